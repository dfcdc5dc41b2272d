import type { ModelEvent } from "../../../runs/ports.ts";

/** What an event takes beside its text, in characters: an object with a few members. */
const EVENT_CHARACTERS = 64;
/** A log probability with its bytes, or one of its alternatives. */
const LOGPROB_CHARACTERS = 128;

/** Roughly what an event holds in memory, in characters, to bound how many wait. */
export function sizeOfEvent(event: ModelEvent): number {
  if (event.type === "annotation") return EVENT_CHARACTERS + JSON.stringify(event.annotation).length;
  if (!("text" in event)) return EVENT_CHARACTERS;
  const size = EVENT_CHARACTERS + event.text.length;
  return event.type === "text_delta" && event.logprobs !== undefined
    ? size + LOGPROB_CHARACTERS * event.logprobs.reduce((count, { top_logprobs }) => count + 1 + top_logprobs.length, 0)
    : size;
}
