import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { AudioError } from "../audio-formats/audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "../audio-formats/recording.ts";
import type { RecordingDecoder } from "../audio-formats/recording-decoder.ts";
import { type HeardPart, type HearingRequest, heardPart } from "./heard-part.ts";
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

  /** Throws `AudioError`, `SpeechError`, or the signal's reason if the signal aborts. */
  async transcribe(recording: Recording, request: RecordingRequest): Promise<TranscribedRecording> {
    const parts = await Array.fromAsync(this.hear(recording, { ...request, prompt: null }));
    const spoken = parts.filter(({ text }) => text !== "");
    return {
      text: spoken.map(({ text }) => text).join(" "),
      durationMs: parts.at(-1)?.heardMs ?? 0,
      language: spoken[0]?.language ?? null,
      warning: this.warning(),
    };
  }

  /**
   * The parts of a recording once each is transcribed. Sends only speech to the engine, which would invent words for
   * silence. The last part has no text and says how long the recording is. Throws `AudioError`, `SpeechError`, or the
   * signal's reason if the signal aborts.
   */
  async *hear(recording: Recording, request: HearingRequest): AsyncGenerator<HeardPart> {
    const refusal = this.#parts.engine.refusal();
    if (refusal !== null) throw refusal;
    if (this.#recordingCount >= HELD_MAX)
      throw new SpeechError("busy", `${HELD_MAX} recordings are already being transcribed or waiting`);
    this.#recordingCount += 1;
    let giveBack: (() => void) | null = null;
    try {
      giveBack = await this.#slots.take(request.signal);
      yield* this.#hear(recording, request);
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

  async *#hear(recording: Recording, request: HearingRequest): AsyncGenerator<HeardPart> {
    const segmenter = new Segmenter(RECORDED_SEGMENTS);
    let samples = 0;
    const heardMs = (): number => Math.round((samples * 1000) / DECODED_RATE_HZ);
    for await (const piece of this.#parts.decoder.decode(recording, request.signal)) {
      samples += piece.length;
      for (const segment of segmenter.push(piece))
        yield heardPart(segment, await this.#ask(segment.samples, request), heardMs());
    }
    const last = segmenter.cut();
    if (last !== null) yield heardPart(last, await this.#ask(last.samples, request), heardMs());
    yield { text: "", segments: [], language: null, heardMs: heardMs() };
  }

  #ask(samples: Int16Array, request: HearingRequest): Promise<Transcript> {
    return this.#parts.engine.transcribe(samples, { ...request, urgency: "awaited" });
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
