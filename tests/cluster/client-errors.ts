import { setTimeout as sleep } from "node:timers/promises";
import { APIConnectionError, APIError, APIUserAbortError } from "openai";
import { PATIENCE_MS, REST_MS } from "./desk.ts";
import type { Records } from "./records.ts";

/** What a client may meet while nodes die: it can try again later. */
const MAY_BE_MET: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Counts an error. One that a client must never meet is a fault. */
export function meet(records: Records, what: string, error: unknown): void {
  records.count(`${what}: ${nameOf(error)}`);
  if (!isPassing(error)) records.faults.push(`${what} met ${nameOf(error)}: ${String(error)}`);
}

/** Calls again until it works. Throws an error that no client must meet, and one that does not pass. */
export async function persist<Answer>(records: Records, what: string, call: () => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isPassing(error) || performance.now() > until) throw error;
      records.count(`${what}: ${nameOf(error)}`);
      await sleep(REST_MS);
    }
  }
}

/** The status of an answer that is an error; null for what is none. */
export function statusOf(error: unknown): number | null {
  return error instanceof APIError ? (error.status ?? null) : null;
}

/** Whether somebody else writes to the conversation, and nothing was done. */
export function isBusyConversation(error: unknown): boolean {
  return error instanceof APIError && error.code === "conversation_locked";
}

function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  if (status === null) return isBroken(error);
  return MAY_BE_MET.has(status) || isBusyConversation(error);
}

/** Whether the connection broke, or the client gave up a silent one. */
function isBroken(error: unknown): boolean {
  if (error instanceof APIConnectionError || error instanceof APIUserAbortError || error instanceof APIError)
    return true;
  return error instanceof Error && (error.name === "AbortError" || error.message === BROKEN_OFF);
}

/** What fetch says when a body breaks off. */
const BROKEN_OFF = "terminated";

function nameOf(error: unknown): string {
  const status = statusOf(error);
  if (status !== null) return String(status);
  if (error instanceof APIError && error.code != null) return error.code;
  return error instanceof Error ? error.message : String(error);
}
