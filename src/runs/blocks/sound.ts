import type { ModelEvent } from "../ports.ts";
import type { Answering } from "../run-state.ts";
import type { UnnumberedEvent } from "../wire-event.ts";

type SoundEvent = Extract<ModelEvent, { type: "audio_delta" | "audio_transcript_delta" | "audio_done" }>;

/**
 * Shows the sound of an answer. It belongs to the response, not to an item, so it may come between any other events.
 */
export function addSound(state: Answering, event: SoundEvent, events: UnnumberedEvent[]): Answering {
  switch (event.type) {
    case "audio_delta":
      events.push({ type: "response.audio.delta", delta: event.audio });
      return { ...state, isSounding: true };
    case "audio_transcript_delta":
      events.push({ type: "response.audio.transcript.delta", delta: event.text });
      return { ...state, isSounding: true };
    case "audio_done":
      return closeSound({ ...state, isSounding: true }, events);
  }
}

/** Ends the sound if there is one that has not ended. */
export function closeSound(state: Answering, events: UnnumberedEvent[]): Answering {
  if (!state.isSounding) return state;
  events.push({ type: "response.audio.done" }, { type: "response.audio.transcript.done" });
  return { ...state, isSounding: false };
}
