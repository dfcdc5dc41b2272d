import type { Logger } from "@antiphon/base/logger.ts";
import type { Recording } from "../audio-formats/recording.ts";
import type { HeardPart, HearingRequest } from "../recognition/heard-part.ts";
import type { SpeechError, Transcript, TranscriptionRequest } from "../recognition/speech-engine.ts";
import type { TextSpeech } from "../voices/text-speech.ts";

/** What an operation knows of its request beside the contract. */
export interface AudioContext {
  readonly requestId: string;
  readonly log: Logger;
  /** Aborts when the client leaves, or when a stopping server ends its remaining requests. */
  readonly signal: AbortSignal;
  /** Hears once how much of a recording was heard. Nobody if absent. */
  readonly onHeard?: (ms: number) => void;
}

/** Hears whole recordings. */
export interface RecordingHearing {
  /** The name of the speech model; null if it is not known. */
  model(): string | null;
  /** A sentence that warns readers of transcripts made now, or null. */
  warning(): string | null;
  /** Whether the model knows this language, a BCP 47 tag. True if unknown. */
  knowsLanguage(language: string): boolean;
  /** Whether it can translate into English. True if unknown. */
  canTranslate(): boolean;
  /**
   * The parts of a recording once each is heard; the last one has no text. Throws `SpeechError`, `AudioError`, or the
   * signal's reason if the signal aborts.
   */
  hear(recording: Recording, request: HearingRequest): AsyncIterable<HeardPart>;
  /** The error with which `hearSamples` would reject now; null if it would not. */
  refusal(): SpeechError | null;
  /**
   * Hears a piece of speech: 16-bit samples, 16,000 per second. Rejects with `SpeechError`, or with the signal's reason
   * if that aborts.
   */
  hearSamples(samples: Int16Array, request: TranscriptionRequest): Promise<Transcript>;
}

/** The address of the local speech server without a trailing slash; null while it is unknown. */
export type NeighbourUrl = () => string | null;

/** What the operations work with. */
export interface AudioParts {
  /** Null if there is no speech engine. */
  readonly hearing: RecordingHearing | null;
  /** Where the process that hears serves the same routes; null if this process does. */
  readonly neighbour: NeighbourUrl | null;
  readonly recordingBytesMax: number;
  readonly speech: TextSpeech;
}
