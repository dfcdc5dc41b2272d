/** Samples per second that engines hear. */
export const SPEECH_RATE_HZ = 16_000;

/** A whole recording. */
export interface SoundFile {
  readonly bytes: Uint8Array;
  /** Such as `audio/wav`. */
  readonly mimeType: string;
}

/** One recording to be turned into text. */
export interface TranscriptionRequest {
  /** The language to expect, as a BCP 47 tag; null: the engine finds out. */
  readonly language: string | null;
  /** What was said before, or words that are likely; it steers spelling and is no part of the transcript. */
  readonly prompt: string | null;
  /**
   * Callers of different names take turns, whatever the number of their requests; null: a caller of this request only.
   */
  readonly caller: string | null;
  /** `awaited`: somebody waits for this now. `ahead`: work before it is asked for, which lets awaited work pass. */
  readonly urgency: "awaited" | "ahead";
  /** Whether better words will soon replace these: doubt costs them no second question. */
  readonly isGuess?: boolean;
  /** Aborts when somebody begins to wait for what was asked for ahead. */
  readonly hurried?: AbortSignal;
  /** Ends the wait at once, and the work soon after. */
  readonly signal: AbortSignal;
}

export interface TranscriptSegment {
  /** Without space around it; never empty. */
  readonly text: string;
  /** From the beginning of the sound. */
  readonly startMs: number;
  readonly endMs: number;
}

/** What was said in a recording. */
export interface Transcript {
  /** What the segments say, together; empty where nothing was said. */
  readonly text: string;
  /** In order of time; empty where the engine tells no times. */
  readonly segments: readonly TranscriptSegment[];
  /** The language that was heard, such as `en`; null where the engine does not say. */
  readonly language: string | null;
}

/**
 * What an engine is doing. A `ready` one transcribes, and a `demo` one as well as it can; one that is `loading` for a
 * second time takes requests, which wait.
 */
export type EngineStatus =
  | { readonly state: "building"; readonly percent: number | null }
  | { readonly state: "downloading"; readonly receivedBytes: number; readonly totalBytes: number | null }
  | { readonly state: "loading" }
  | { readonly state: "ready" }
  /**
   * A small model that knows `words` words answers in place of the chosen one. `reason`: why, as a sentence without a
   * full stop, which may be shown.
   */
  | { readonly state: "demo"; readonly words: number; readonly reason: string }
  /** `reason`: a sentence without a full stop, which may be shown. */
  | { readonly state: "failed"; readonly reason: string };

/** What whoever reads a transcript of such an engine should know, as a sentence; null: nothing. */
export function transcriptWarning(status: EngineStatus): string | null {
  return status.state === "demo" ? `Demo model: ${status.words} words of a synthetic voice.` : null;
}

/** What /version tells of an engine. */
export interface EngineFacts {
  /** Such as `whisper.cpp`. */
  readonly engine: string;
  readonly engineVersion: string | null;
  /** Such as `base.en`. */
  readonly model: string | null;
  readonly modelPath: string | null;
  /** Of the model's file, in hex; null until it is known. */
  readonly modelSha256: string | null;
}

/** Turns speech into text. */
export interface SpeechEngine {
  /** Shown in logs and by the start banner. */
  readonly name: string;
  status(): EngineStatus;
  /** Calls with every later status, until what is returned is called. */
  watch(listener: (status: EngineStatus) => void): () => void;
  facts(): EngineFacts;
  /** How often the engine had to be started anew. */
  restarts(): number;
  /** What `transcribe` would reject with at once if it were asked now; null: it would begin, or wait for its turn. */
  refusal(): SpeechError | null;
  /** Whether it can transcribe this language, a BCP 47 tag; true where that is not known. */
  knowsLanguage(language: string): boolean;
  /**
   * `samples`: one channel of signed 16 bit samples, 16,000 a second. They are heard as they are: silence may give
   * words that nobody said. Rejects with `SpeechError`, or with the signal's reason when that aborts.
   */
  transcribe(samples: Int16Array, request: TranscriptionRequest): Promise<Transcript>;
}

/** Turns whole recordings into text. */
export interface FileTranscriber {
  /** What whoever reads its transcripts should know now, as a sentence; null: nothing. */
  warning(): string | null;
  /**
   * Where nothing is said the text is empty. Rejects with `SpeechError`, or with the signal's reason when that aborts.
   */
  transcribeFile(
    file: SoundFile,
    request: Pick<TranscriptionRequest, "caller" | "language" | "signal">,
  ): Promise<string>;
}

/**
 * Why there is no transcript. `refused`: this recording cannot be read. `loading`: the engine is not ready yet.
 * `failed`: it cannot be started. `busy`: too much waits already. `crashed`: it failed on this recording, twice.
 * `unavailable`: it cannot be reached, or is being stopped.
 */
export type SpeechErrorReason = "busy" | "crashed" | "failed" | "loading" | "refused" | "unavailable";

/** No transcript. The message is a sentence without a full stop, which may be shown. */
export class SpeechError extends Error {
  override readonly name = "SpeechError";
  readonly reason: SpeechErrorReason;

  constructor(reason: SpeechErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
