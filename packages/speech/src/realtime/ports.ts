import type { Logger } from "@antiphon/base/logger.ts";
import type { AudioLogprob, RealtimeTranscriptionConfig } from "@antiphon/contracts/audio/types.ts";
import type { RecordingHearing } from "../audio-api/ports.ts";
import type { SpeechError, TranscriptionRequest } from "../recognition/speech-engine.ts";

/** How to hear a piece of live sound. */
export type PieceRequest = Pick<
  TranscriptionRequest,
  "caller" | "hurried" | "language" | "prompt" | "signal" | "urgency"
>;

export interface HeardPiece {
  /** Empty if nothing was said. */
  readonly text: string;
  /** The detected language, such as `en`; null if it is not known. */
  readonly language: string | null;
  readonly logprobs: readonly AudioLogprob[];
}

/** Hears pieces of live sound. */
export interface PieceHearing extends Pick<RecordingHearing, "knowsLanguage" | "model"> {
  /** The error with which `hearPiece` would reject now; null if it would not. */
  refusal(): SpeechError | null;
  /** 16-bit samples, 16,000 per second. Rejects with `SpeechError`, or with the signal's reason if that aborts. */
  hearPiece(samples: Int16Array, request: PieceRequest): Promise<HeardPiece>;
}

/** What sessions work with. */
export interface RealtimeParts {
  /** Null if there is no speech engine. */
  readonly pieces: PieceHearing | null;
  /** Takes a place for a session. The returned function frees it. Throws an `ApiError` if there is none. */
  readonly takePlace: () => () => void;
  /** How long a client may send nothing, in milliseconds. */
  readonly idleMs: number;
}

/** How a client opened its session. */
export interface RealtimeCall {
  readonly requestId: string;
  readonly log: Logger;
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal;
  /** The settings of the client secret; null without one. Throws an `ApiError` for a secret that is not valid. */
  readonly settings: () => RealtimeTranscriptionConfig | null;
  /** The query of the address, whose parameters are texts. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Hears of the length of each item with a transcript, and of the model that its session names. */
  readonly onHeard: (seconds: number, model: string) => void;
}
