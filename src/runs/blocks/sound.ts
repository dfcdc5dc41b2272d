import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { Answering } from "../run-state.ts";
import type { UnnumberedEvent } from "../wire-event.ts";

type SoundEvent = Extract<ModelEvent, { type: "audio_delta" | "audio_transcript_delta" | "audio_done" }>;

/**
 * Adds the audio events of an answer. They belong to the response and not to an item, so they may come between any
 * events.
 */
export function addSound(state: Answering, event: SoundEvent, events: UnnumberedEvent[]): Answering {
  switch (event.type) {
    case "audio_delta":
      events.push({ type: "response.audio.delta", delta: event.audio });
      return { ...state, isSoundOpen: true };
    case "audio_transcript_delta":
      events.push({ type: "response.audio.transcript.delta", delta: event.text });
      return { ...state, isSoundOpen: true };
    case "audio_done":
      return closeSound({ ...state, isSoundOpen: true }, events);
  }
}

/** Ends the sound if it is open. */
export function closeSound(state: Answering, events: UnnumberedEvent[]): Answering {
  if (!state.isSoundOpen) return state;
  events.push({ type: "response.audio.done" }, { type: "response.audio.transcript.done" });
  return { ...state, isSoundOpen: false };
}
