import type { PcmChunk } from "../audio/pcm.ts";

export interface Voice {
  /** What a request calls it. */
  readonly name: string;
  /** A language tag, such as `en-us`; null where the engine does not tell. */
  readonly language: string | null;
  /** The name of the voice whose sound this one changes; null for a voice of its own. */
  readonly variantOf: string | null;
}

/** Why a voice does not speak. */
export class VoiceError extends Error {
  override readonly name = "VoiceError";
}

/** Makes sound of text. One implementation per kind of voice. */
export interface VoiceEngine {
  /** Shown in logs. */
  readonly name: string;
  /**
   * The names of the reference's voices that other voices of this engine speak for; none where the engine takes those
   * names itself.
   */
  readonly standsInFor: readonly string[];
  /**
   * The voice behind a name that a request gives; `usual` is the one where none is given. A name of the engine's own
   * stays.
   */
  voiceFor(name: string, usual: string | null): string;
  /**
   * The voices to choose from; null where they cannot be listed and any name may be tried. Rejects with `VoiceError`
   * where the engine cannot work here.
   */
  listVoices(signal: AbortSignal): Promise<readonly Voice[] | null>;
  /**
   * The sound of one sentence, as it is made; all chunks have one rate. `voice` null: the engine's own choice. Throws
   * `VoiceError`; ends early, without throwing, when `signal` aborts. Leaving the iteration stops the voice at once.
   */
  speak(text: string, voice: string | null, signal: AbortSignal): AsyncIterable<PcmChunk>;
}

/**
 * Turns samples of one rate into the bytes of one continuous recording. Ends early, without throwing, when `signal`
 * aborts.
 */
export type Encoder = (
  pcm: AsyncIterable<Int16Array>,
  sampleRateHz: number,
  signal: AbortSignal,
) => AsyncIterable<Uint8Array>;
