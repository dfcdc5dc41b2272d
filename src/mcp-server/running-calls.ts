import { isRecord } from "@antiphon/base/json/records.ts";
import type { Caller } from "../responses-api/access/caller.ts";

/** The most requests of one project that are answered at the same time. */
const CALLS_PER_PROJECT_MAX = 32;
/** The longest id of a session or request that can be cancelled. */
const ID_CHARACTERS_MAX = 100;
export const SESSION_HEADER = "mcp-session-id";

/** One request of a client while it is answered. */
export interface RunningCall {
  /** Aborts when the client leaves or cancels the request. */
  readonly signal: AbortSignal;
  /** Called when the answer is whole, or nobody reads it. */
  readonly end: () => void;
}

/**
 * The requests of MCP clients that this process is answering. Clients of the protocols before 2026-07-28 cancel by a
 * message of its own, which names the request; later ones close its connection.
 */
export class RunningCalls {
  readonly #running = new Set<AbortController>();
  readonly #perProject = new Map<string, number>();
  readonly #cancellable = new Map<string, AbortController>();

  /** Null if the project has too many of them. */
  begin(caller: Caller, requestId: unknown): RunningCall | null {
    const { organization, project } = caller.principal.owner;
    const owner = JSON.stringify([organization, project]);
    const count = this.#perProject.get(owner) ?? 0;
    if (count >= CALLS_PER_PROJECT_MAX) return null;
    this.#perProject.set(owner, count + 1);
    const cancelling = new AbortController();
    const name = nameOf(caller, requestId);
    if (name !== null) this.#cancellable.set(name, cancelling);
    const end = (): void => {
      caller.signal.removeEventListener("abort", end);
      if (!this.#running.delete(cancelling)) return;
      const left = (this.#perProject.get(owner) ?? 1) - 1;
      if (left === 0) this.#perProject.delete(owner);
      else this.#perProject.set(owner, left);
      if (name !== null && this.#cancellable.get(name) === cancelling) this.#cancellable.delete(name);
    };
    this.#running.add(cancelling);
    caller.signal.addEventListener("abort", end); // Nobody may read an answer whose client has left.
    return { signal: AbortSignal.any([caller.signal, cancelling.signal]), end };
  }

  /** Stops the request that the message names, if this key and session made it. */
  cancel(caller: Caller, { params }: Readonly<Record<string, unknown>>): void {
    const name = nameOf(caller, isRecord(params) ? params["requestId"] : null);
    if (name !== null) this.#cancellable.get(name)?.abort(new Error("the client cancelled the request"));
  }
}

/** Null if the request cannot be cancelled by name: clients without a session count their requests alike. */
function nameOf({ principal, peer }: Caller, requestId: unknown): string | null {
  const session = peer.headers[SESSION_HEADER];
  if (typeof session !== "string" || session.length > ID_CHARACTERS_MAX) return null;
  if (typeof requestId !== "number" && typeof requestId !== "string") return null;
  if (String(requestId).length > ID_CHARACTERS_MAX) return null;
  return JSON.stringify([principal.keyId, session, requestId]);
}
