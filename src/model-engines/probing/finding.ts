import { ModelError } from "@antiphon/domain/models/model-error.ts";

/**
 * How a field is treated. `ignored`: the model server accepts it without effect; `unknown`: the server failed, so it
 * could not be tested.
 */
export type Verdict = "honoured" | "emulated" | "ignored" | "refused" | "unknown";

export interface Finding {
  readonly name: string;
  readonly verdict: Verdict;
  /** A clause; null if there is nothing to explain. */
  readonly why: string | null;
  readonly ms: number;
}

const WHY_CHARACTERS_MAX = 200;

/** What is found if an attempt fails. */
export function failure(error: unknown): Pick<Finding, "verdict" | "why"> {
  const message = error instanceof Error ? error.message : "it failed";
  return { verdict: isRefusal(error) ? "refused" : "unknown", why: message.slice(0, WHY_CHARACTERS_MAX) };
}

/** Whether the server refuses permanently. An exhausted quota does not count. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ModelError) || error.code === "insufficient_quota") return false;
  const wasReached = error.cause === undefined;
  return error.type === "invalid_request_error" || (error.retry === "never" && wasReached);
}

export function msSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
