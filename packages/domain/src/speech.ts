import type { OutputAudio } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "./models/model-events.ts";

/** How an answer is spoken, with all defaults filled in. Plain JSON. */
export interface SpeechOutput {
  readonly format: "mp3" | "opus" | "pcm16" | "wav";
  /** Null for the default voice. */
  readonly voice: string | null;
  readonly sampleRateHz: number;
}

export type SettledSpeech =
  | { readonly type: "settled"; readonly speech: SpeechOutput }
  /** The request cannot be spoken. `reason` is a whole sentence that says what would help. */
  | { readonly type: "refused"; readonly param: string; readonly reason: string }
  | { readonly type: "unknown_voice"; readonly voice: string; readonly voices: readonly string[] };

/** Speaks answers while the model writes them. */
export interface SpokenOutput {
  /** Fills in the defaults of a request and checks that it can be spoken. */
  settle(audio: OutputAudio, signal: AbortSignal): Promise<SettledSpeech>;
  /** Adds sound events to a turn. If the voice fails, the failure is logged and the sound ends; the text continues. */
  speak(
    turn: AsyncIterable<readonly ModelEvent[]>,
    run: { readonly responseId: string; readonly speech: SpeechOutput; readonly signal: AbortSignal },
  ): AsyncIterable<readonly ModelEvent[]>;
}
