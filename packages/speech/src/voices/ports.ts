import type { PcmChunk } from "../audio/pcm.ts";

export interface Voice {
  /** The name that requests use. */
  readonly name: string;
  /** A language tag such as `en-us`; null if the engine reports none. */
  readonly language: string | null;
  /** The voice that this one is a variant of; null if it is not a variant. */
  readonly variantOf: string | null;
}

/** A voice failed. */
export class VoiceError extends Error {
  override readonly name = "VoiceError";
}

/** Turns text into sound. */
export interface VoiceEngine {
  /** Shown in logs. */
  readonly name: string;
  /** The reference's voice names that this engine maps to its own voices; empty if it takes those names itself. */
  readonly referenceVoices: readonly string[];
  /**
   * The engine's voice for a requested name. `defaultVoice` is the voice for requests without a name. Names of the
   * engine's own voices are returned unchanged.
   */
  voiceFor(name: string, defaultVoice: string | null): string;
  /**
   * The available voices; null if they cannot be listed, so that any name may be tried. Rejects with `VoiceError` if
   * the engine does not work on this machine.
   */
  listVoices(signal: AbortSignal): Promise<readonly Voice[] | null>;
  /**
   * The sound of one sentence while it is made, in chunks of the same rate. If `voice` is null, the engine chooses.
   * Throws `VoiceError`. Ends early without throwing when `signal` aborts; ending the iteration also stops the voice at
   * once.
   */
  speak(text: string, voice: string | null, signal: AbortSignal): AsyncIterable<PcmChunk>;
}

/** Encodes samples as the bytes of one continuous recording. Ends early without throwing when `signal` aborts. */
export type Encoder = (
  pcm: AsyncIterable<Int16Array>,
  sampleRateHz: number,
  signal: AbortSignal,
) => AsyncIterable<Uint8Array>;
