import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { AudioError } from "../audio-formats/audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "../audio-formats/recording.ts";
import type { RecordingDecoder } from "../audio-formats/recording-decoder.ts";
import { type HeardPart, type HearingRequest, heardPart } from "./heard-part.ts";
import { RECORDED_SEGMENTS, Segmenter, type SpeechSegment } from "./segmenter.ts";
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

/** A stretch of speech with its transcript. Both are null at the end of the recording. */
interface HeardStretch {
  readonly speech: SpeechSegment | null;
  readonly transcript: Transcript | null;
  /** How much of the recording has been read so far. */
  readonly heardMs: number;
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

  /** Throws `AudioError`, `SpeechError`, or the signal's reason if the signal aborts. */
  async transcribe(recording: Recording, request: RecordingRequest): Promise<TranscribedRecording> {
    const transcripts: Transcript[] = [];
    let durationMs = 0;
    for await (const { transcript, heardMs } of this.#stretches(recording, { ...request, prompt: null })) {
      durationMs = heardMs;
      if (transcript !== null && transcript.text.trim() !== "") transcripts.push(transcript);
    }
    const text = transcripts.map((part) => part.text.trim()).join(" ");
    return { text, durationMs, language: transcripts[0]?.language ?? null, warning: this.warning() };
  }

  /**
   * The parts of a recording with the times of their words, once each is transcribed. The last part has no text and
   * says how long the recording is. Throws as `transcribe` does.
   */
  async *hear(recording: Recording, request: HearingRequest): AsyncGenerator<HeardPart> {
    for await (const { speech, transcript, heardMs } of this.#stretches(recording, request))
      yield speech === null || transcript === null
        ? { text: "", segments: [], language: null, heardMs }
        : heardPart(speech, transcript, heardMs);
  }

  /** The stretches of speech in a recording once each is transcribed, within the limits of this process. */
  async *#stretches(recording: Recording, request: HearingRequest): AsyncGenerator<HeardStretch> {
    const refusal = this.#parts.engine.refusal();
    if (refusal !== null) throw refusal;
    if (this.#recordingCount >= HELD_MAX)
      throw new SpeechError("busy", `${HELD_MAX} recordings are already being transcribed or waiting`);
    this.#recordingCount += 1;
    let giveBack: (() => void) | null = null;
    try {
      giveBack = await this.#slots.take(request.signal);
      yield* this.#transcribeEach(recording, request);
    } catch (error) {
      request.signal.throwIfAborted();
      throw error;
    } finally {
      giveBack?.();
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

  /** Sends only speech to the engine, which would invent words for silence. */
  async *#transcribeEach(recording: Recording, request: HearingRequest): AsyncGenerator<HeardStretch> {
    const segmenter = new Segmenter(RECORDED_SEGMENTS);
    let samples = 0;
    const heardMs = (): number => Math.round((samples * 1000) / DECODED_RATE_HZ);
    for await (const piece of this.#parts.decoder.decode(recording, request.signal)) {
      samples += piece.length;
      for (const speech of segmenter.push(piece))
        yield { speech, transcript: await this.#ask(speech.samples, request), heardMs: heardMs() };
    }
    const last = segmenter.cut();
    if (last !== null) yield { speech: last, transcript: await this.#ask(last.samples, request), heardMs: heardMs() };
    yield { speech: null, transcript: null, heardMs: heardMs() };
  }

  #ask(samples: Int16Array, request: HearingRequest): Promise<Transcript> {
    return this.#parts.engine.transcribe(samples, { ...request, urgency: "awaited" });
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
