/** One recording to be turned into text. */
export interface TranscriptionRequest {
  /** Such as `audio/wav`; the sound is a whole file of this type. */
  readonly mimeType: string;
  /** The language to expect, as a BCP 47 tag; null: the engine finds out. */
  readonly language: string | null;
  readonly signal: AbortSignal;
}

/** What was said in a recording. */
export interface Transcript {
  /** Empty where nothing was said. */
  readonly text: string;
}

/** Turns speech into text. */
export interface SpeechEngine {
  /** Shown in logs and by the start banner. */
  readonly name: string;
  /** Rejects with `SpeechError`, or with the signal's reason when that aborts. */
  transcribe(audio: Uint8Array, request: TranscriptionRequest): Promise<Transcript>;
}

/** No transcript. `refused`: this recording cannot be read; `unavailable`: no recording can be at present. The message is a sentence that may be shown. */
export class SpeechError extends Error {
  override readonly name = "SpeechError";
  readonly reason: "refused" | "unavailable";

  constructor(reason: "refused" | "unavailable", message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
