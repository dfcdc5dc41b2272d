import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";

/** Assumed size of an event without its text, in characters. */
const EVENT_CHARACTERS = 64;
/** Assumed size of one log probability or alternative, in characters. */
const LOGPROB_CHARACTERS = 128;

/** The approximate size of an event in memory, in characters. Used to limit queues. */
export function sizeOfEvent(event: ModelEvent): number {
  if (event.type === "annotation") return EVENT_CHARACTERS + JSON.stringify(event.annotation).length;
  if (event.type === "reasoning_sealed") return EVENT_CHARACTERS + event.sealedText.length;
  if (!("text" in event)) return EVENT_CHARACTERS;
  const size = EVENT_CHARACTERS + event.text.length;
  return event.type === "text_delta" && event.logprobs !== undefined
    ? size + LOGPROB_CHARACTERS * event.logprobs.reduce((count, { top_logprobs }) => count + 1 + top_logprobs.length, 0)
    : size;
}
