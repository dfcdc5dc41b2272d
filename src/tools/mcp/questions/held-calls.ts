import { type Owner, ownerText } from "@antiphon/domain/owner.ts";
import type { ElicitResult } from "@modelcontextprotocol/client";
import type { TakenConnection } from "../server-link.ts";
import type { PausableCall } from "./pausable-call.ts";

/** How long a call waits for the answer of the user. */
const WAIT_MS = 10 * 60_000;
/** The maximum of waiting calls, of all owners and of one. */
const CALLS_MAX = 256;
const CALLS_OF_OWNER_MAX = 32;

/** A call that waits for an answer, and the connection that it holds. */
export interface HeldCall {
  readonly open: PausableCall;
  readonly answer: (result: ElicitResult) => void;
  readonly place: TakenConnection;
}

interface Entry extends HeldCall {
  readonly owner: string;
  readonly timer: NodeJS.Timeout;
}

/** Calls that wait in this process for the answers of users, by the ids of their approval requests. */
export class HeldCalls {
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  /** Whether one more call of this owner may wait. */
  hasRoom(owner: Owner): boolean {
    if (this.#isClosed || this.#entries.size >= CALLS_MAX) return false;
    const text = ownerText(owner);
    return [...this.#entries.values()].filter((entry) => entry.owner === text).length < CALLS_OF_OWNER_MAX;
  }

  /** Keeps a call until it is taken, or for ten minutes. Then it is cancelled. */
  hold(owner: Owner, requestId: string, call: HeldCall): void {
    const timer = setTimeout(() => void this.#expire(requestId), WAIT_MS).unref();
    this.#entries.set(requestId, { ...call, owner: ownerText(owner), timer });
  }

  /** The call that waits for this answer, which is no longer kept; null if there is none. */
  take(owner: Owner, requestId: string): HeldCall | null {
    const entry = this.#entries.get(requestId);
    if (entry === undefined || entry.owner !== ownerText(owner)) return null;
    clearTimeout(entry.timer);
    this.#entries.delete(requestId);
    return entry;
  }

  /** Stops all calls. */
  close(): void {
    this.#isClosed = true;
    for (const [requestId, { timer, open, place }] of this.#entries) {
      clearTimeout(timer);
      this.#entries.delete(requestId);
      open.stop();
      place.release();
    }
  }

  /** Tells the server that nobody answers, and gives it the time of a call to end. */
  async #expire(requestId: string): Promise<void> {
    const entry = this.#entries.get(requestId);
    if (entry === undefined) return;
    this.#entries.delete(requestId);
    entry.answer({ action: "cancel" });
    await entry.open.next(new AbortController().signal).catch(() => {});
    entry.open.stop();
    entry.place.release();
  }
}
