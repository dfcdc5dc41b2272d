/** Sample rate of the sound that engines take, in samples per second. */
export const SPEECH_RATE_HZ = 16_000;

/** A whole recording. */
export interface SoundFile {
  readonly bytes: Uint8Array;
  /** A MIME type such as `audio/wav`. */
  readonly mimeType: string;
}

export type SpeechTask = "transcribe" | "translate";

/** How to transcribe one piece of sound. */
export interface TranscriptionRequest {
  /** The expected language as a BCP 47 tag; if null, the engine detects it. */
  readonly language: string | null;
  /** Earlier text or likely words. It guides spelling and is not part of the transcript. */
  readonly prompt: string | null;
  /** Callers take turns, however many requests each has. Requests with null count as different callers. */
  readonly caller: string | null;
  /** `awaited`: somebody waits for the result now. `ahead`: done in advance; awaited requests go first. */
  readonly urgency: "awaited" | "ahead";
  /**
   * Whether a better transcript will soon replace this one, so that a doubtful answer is not checked by a second
   * question.
   */
  readonly isGuess?: boolean;
  /** `translate`: the text is English, whatever is spoken. Transcribes if absent. */
  readonly task?: SpeechTask;
  /** Above 0, the engine chooses among likely words at random. 0 if absent. */
  readonly temperature?: number;
  /** Aborts when somebody starts to wait for an `ahead` request; it then counts as `awaited`. */
  readonly hurried?: AbortSignal;
  /** Aborting ends the wait at once and the work soon after. */
  readonly signal: AbortSignal;
}

export interface TranscriptSegment {
  /** Trimmed and never empty. */
  readonly text: string;
  /** In milliseconds from the start of the sound, as is `endMs`. */
  readonly startMs: number;
  readonly endMs: number;
  /** Absent if the engine reports none, or if they do not belong to the text. */
  readonly details?: SegmentDetails;
}

/** What an engine reports about a segment beside its text. */
export interface SegmentDetails {
  /** Numbers of tokens in the engine's vocabulary. */
  readonly tokenIds: readonly number[];
  /** Their texts together are the text of the segment, blanks included. A text may be that of several tokens. */
  readonly tokens: readonly TranscriptToken[];
  /** The mean logarithm of the probabilities of the tokens. */
  readonly logProbability: number;
  readonly noSpeechProbability: number;
}

export interface TranscriptToken {
  readonly text: string;
  /** In milliseconds from the start of the sound, as is `endMs`. Both may be wrong by far. */
  readonly startMs: number;
  readonly endMs: number;
  readonly probability: number;
}

/** The transcript of one piece of sound. */
export interface Transcript {
  /** The whole text; empty if nothing was said. */
  readonly text: string;
  /** In order of time; empty if the engine reports no times. */
  readonly segments: readonly TranscriptSegment[];
  /** The detected language, such as `en`; null if the engine reports none. */
  readonly language: string | null;
}

/**
 * The state of an engine. A `ready` engine transcribes, and a `demo` engine does with a tiny model. An engine that
 * reloads its model is `loading` again and queues requests.
 */
export type EngineStatus =
  | { readonly state: "building"; readonly percent: number | null }
  | { readonly state: "downloading"; readonly receivedBytes: number; readonly totalBytes: number | null }
  | { readonly state: "loading" }
  | { readonly state: "ready" }
  /**
   * A demo model that knows `words` words replaces the configured model. `reason` says why: a sentence without a full
   * stop, which may be shown to callers.
   */
  | { readonly state: "demo"; readonly words: number; readonly reason: string }
  /** `reason` is a sentence without a full stop, which may be shown to callers. */
  | { readonly state: "failed"; readonly reason: string };

/** A sentence that warns readers of transcripts made in this state, or null. */
export function transcriptWarning(status: EngineStatus): string | null {
  return status.state === "demo" ? `Demo model: ${status.words} words of a synthetic voice.` : null;
}

/** What `/version` reports about an engine. */
export interface EngineFacts {
  /** Such as `whisper.cpp`. */
  readonly engine: string;
  readonly engineVersion: string | null;
  /** Such as `base.en`. */
  readonly model: string | null;
  readonly modelPath: string | null;
  /** SHA-256 of the model file in hex; null until it is computed. */
  readonly modelSha256: string | null;
}

/** Turns speech into text. */
export interface SpeechEngine {
  /** Shown in logs and in the start banner. */
  readonly name: string;
  status(): EngineStatus;
  /** Calls the listener on every later change of status. The returned function removes the listener. */
  watch(listener: (status: EngineStatus) => void): () => void;
  facts(): EngineFacts;
  /** How often the engine was restarted. */
  restarts(): number;
  /** The error with which `transcribe` would reject now; null if it would accept the request. */
  refusal(): SpeechError | null;
  /** Whether the engine can transcribe this language, a BCP 47 tag. True if unknown. */
  knowsLanguage(language: string): boolean;
  /** Whether the engine can translate into English. True if unknown. */
  canTranslate(): boolean;
  /**
   * Transcribes mono 16-bit samples at 16,000 per second. Does not remove silence, so it may invent words. Rejects with
   * `SpeechError`, or with the signal's reason if the signal aborts.
   */
  transcribe(samples: Int16Array, request: TranscriptionRequest): Promise<Transcript>;
}

/** Turns whole recordings into text. */
export interface FileTranscriber {
  /** A sentence that warns readers of transcripts made now, or null. */
  warning(): string | null;
  /** Returns empty text if nothing is said. Rejects with `SpeechError`, or with the signal's reason if that aborts. */
  transcribeFile(
    file: SoundFile,
    request: Pick<TranscriptionRequest, "caller" | "language" | "signal">,
  ): Promise<string>;
}

/**
 * Why there is no transcript. `refused`: the recording cannot be read. `loading`: the engine is not ready yet.
 * `failed`: the engine cannot be started. `busy`: too many requests are waiting. `crashed`: the engine failed on this
 * recording twice. `unavailable`: the engine cannot be reached or is being stopped.
 */
export type SpeechErrorReason = "busy" | "crashed" | "failed" | "loading" | "refused" | "unavailable";

/** A transcription failed. The message is a sentence without a full stop, which may be shown to callers. */
export class SpeechError extends Error {
  override readonly name = "SpeechError";
  readonly reason: SpeechErrorReason;

  constructor(reason: SpeechErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
