import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { AudioError } from "../audio-formats/audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "../audio-formats/recording.ts";
import type { RecordingDecoder } from "../audio-formats/recording-decoder.ts";
import { RECORDED_SEGMENTS, Segmenter } from "./segmenter.ts";
import {
  type FileTranscriber,
  type SoundFile,
  type SpeechEngine,
  SpeechError,
  type Transcript,
  type TranscriptionRequest,
  transcriptWarning,
} from "./speech-engine.ts";

export interface RecordingParts {
  readonly engine: SpeechEngine;
  readonly decoder: RecordingDecoder;
}

export type RecordingRequest = Pick<TranscriptionRequest, "caller" | "language" | "signal">;

export interface TranscribedRecording {
  /** Empty if nothing was said. */
  readonly text: string;
  readonly durationMs: number;
  /** The first detected language, such as `en`; null if nothing was said or the engine reports none. */
  readonly language: string | null;
  /** A sentence that warns readers of the text, or null. */
  readonly warning: string | null;
}

/**
 * The maximum of recordings that are decoded and transcribed at the same time; others wait. Each has at most one
 * segment at the engine, so a long recording does not block the others.
 */
const RECORDINGS_MAX = 4;
/** The maximum of recordings in work and waiting, together. The bytes of each are in memory or in a file. */
const HELD_MAX = 32;

/**
 * Transcribes recordings segment by segment while they are decoded. About one minute of samples is in memory, however
 * long the recording is. A process has one instance for all its interfaces, so the limits hold for the process.
 */
export class RecordingTranscriber implements FileTranscriber {
  readonly #parts: RecordingParts;
  readonly #slots = new Semaphore(RECORDINGS_MAX);
  #recordingCount = 0;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /**
   * Sends only speech to the engine, which would invent words for silence. Throws `AudioError`, `SpeechError`, or the
   * signal's reason if the signal aborts.
   */
  async transcribe(recording: Recording, request: RecordingRequest): Promise<TranscribedRecording> {
    const refusal = this.#parts.engine.refusal();
    if (refusal !== null) throw refusal;
    if (this.#recordingCount >= HELD_MAX)
      throw new SpeechError("busy", `${HELD_MAX} recordings are already being transcribed or waiting`);
    this.#recordingCount += 1;
    try {
      const giveBack = await this.#slots.take(request.signal);
      return await this.#transcribe(recording, request).finally(giveBack);
    } catch (error) {
      request.signal.throwIfAborted();
      throw error;
    } finally {
      this.#recordingCount -= 1;
    }
  }

  warning(): string | null {
    return transcriptWarning(this.#parts.engine.status());
  }

  /** Rejects with a `SpeechError` of reason `refused` if the recording cannot be read. */
  async transcribeFile({ bytes }: SoundFile, request: RecordingRequest): Promise<string> {
    const recording: Recording = { size: bytes.length, read: () => piecesOf(bytes) };
    try {
      return (await this.transcribe(recording, request)).text;
    } catch (error) {
      if (error instanceof AudioError) throw new SpeechError("refused", error.message, error);
      throw error;
    }
  }

  async #transcribe(recording: Recording, request: RecordingRequest): Promise<TranscribedRecording> {
    const segmenter = new Segmenter(RECORDED_SEGMENTS);
    const transcripts: Transcript[] = [];
    let samples = 0;
    for await (const piece of this.#parts.decoder.decode(recording, request.signal)) {
      samples += piece.length;
      for (const segment of segmenter.push(piece)) transcripts.push(await this.#ask(segment.samples, request));
    }
    const last = segmenter.cut();
    if (last !== null) transcripts.push(await this.#ask(last.samples, request));
    const durationMs = Math.round((samples * 1000) / DECODED_RATE_HZ);
    const parts = transcripts.filter(({ text }) => text.trim() !== "");
    const text = parts.map((part) => part.text.trim()).join(" ");
    return { text, durationMs, language: parts[0]?.language ?? null, warning: this.warning() };
  }

  #ask(samples: Int16Array, request: RecordingRequest): Promise<Transcript> {
    return this.#parts.engine.transcribe(samples, { ...request, prompt: null, urgency: "awaited" });
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
