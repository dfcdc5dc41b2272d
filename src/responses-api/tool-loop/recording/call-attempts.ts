import type { ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import type { AttemptOutcome, CallAttempt, KnownExchange } from "@antiphon/domain/tool-ledger.ts";

/** The longest pause between two attempts. */
const PAUSE_MS_MAX = 60_000;
/** Each pause is this many times the one before. */
const PAUSE_FACTOR = 4;

/** The attempts at the calls of one response, by the ids of their items. */
export class CallAttempts {
  readonly #node: string;
  readonly #byItem = new Map<string, readonly CallAttempt[]>();

  /** `node`: the name of this server. */
  constructor(node: string) {
    this.#node = node;
  }

  list(itemId: string): readonly CallAttempt[] {
    return this.#byItem.get(itemId) ?? [];
  }

  /** A crash interrupted this call. */
  remember({ itemId, attempts }: Pick<KnownExchange, "itemId" | "attempts">): void {
    this.#byItem.set(itemId, interruptedAttempts(attempts));
  }

  /** Another attempt is about to be made. Returns all of them. */
  begin(itemId: string): readonly CallAttempt[] {
    const attempt = { startedAt: Date.now(), endedAt: null, node: this.#node, outcome: null };
    return this.#set(itemId, [...this.list(itemId), attempt]);
  }

  /** The last attempt has ended, unless that is known already. Returns all of them. */
  end(itemId: string, outcome: AttemptOutcome): readonly CallAttempt[] {
    const last = this.list(itemId).at(-1);
    if (last === undefined || last.outcome !== null) return this.list(itemId);
    return this.#set(itemId, [...this.list(itemId).slice(0, -1), { ...last, endedAt: Date.now(), outcome }]);
  }

  /** Whether nobody knows after this attempt if the call has acted: then, or in an attempt before. */
  isUnsettled(itemId: string, outcome: ToolOutcome): boolean {
    if (outcome.type === "unknown") return true;
    const hasNotActed = outcome.type === "ran" && outcome.hasNotActed === true;
    return hasNotActed && this.list(itemId).some((attempt) => attempt.outcome === "unknown");
  }

  #set(itemId: string, attempts: readonly CallAttempt[]): readonly CallAttempt[] {
    this.#byItem.set(itemId, attempts);
    return attempts;
  }
}

/** The attempts at a call whose process ended meanwhile: nobody knows how the last one came out, nor when. */
export function interruptedAttempts(attempts: readonly CallAttempt[]): readonly CallAttempt[] {
  return attempts.map((attempt) => ({ ...attempt, outcome: attempt.outcome ?? "unknown" }));
}

/** How an attempt came out. */
export function attemptOutcome(outcome: ToolOutcome): AttemptOutcome {
  if (outcome.type === "unknown") return "unknown";
  if (outcome.type === "told") return "failed";
  if (outcome.type === "asks") return "asked";
  if (outcome.type === "goes_on") return "done";
  if (outcome.asks === true) return "asked";
  const { item } = outcome;
  const isBroken = "status" in item && (item.status === "failed" || item.status === "incomplete");
  return isBroken || outcome.hasNotActed === true ? "failed" : "done";
}

/** The pause after this many attempts, in milliseconds. */
export function repeatPause(repeatMs: number, attempts: number): number {
  return Math.min(PAUSE_MS_MAX, repeatMs * PAUSE_FACTOR ** (attempts - 1));
}
