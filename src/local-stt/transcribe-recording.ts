import type { Recording } from "../audio-formats/recording.ts";
import { DECODED_RATE_HZ } from "../audio-formats/recording.ts";
import type { RecordingDecoder } from "../audio-formats/recording-decoder.ts";
import { Slots } from "../base/slots.ts";
import { RECORDED_SEGMENTS, Segmenter, type SpeechSegment } from "../speech/segmenter.ts";
import type { SpeechEngine } from "../speech/speech-engine.ts";
import type { SttContext } from "./context.ts";
import { busy } from "./errors.ts";
import { recordingFault, speechFault } from "./speech-faults.ts";
import type { SpeechObserver } from "./speech-observer.ts";

export interface RecordingParts {
  readonly speech: SpeechEngine;
  readonly decoder: RecordingDecoder;
  readonly observer: SpeechObserver;
}

export interface Transcribed {
  readonly text: string;
  readonly durationMs: number;
}

/** Recordings that are decoded and transcribed at the same time; others wait for their turn. Each has one segment at the engine, so that nobody's long one holds up the others. */
const RECORDINGS_MAX = 4;
/** Those and the ones that wait. Each is held in memory. */
const HELD_MAX = 32;

/** Transcribes whole recordings, segment after segment while they are decoded. */
export class RecordingTranscriber {
  readonly #parts: RecordingParts;
  readonly #slots = new Slots(RECORDINGS_MAX);
  #held = 0;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /** Throws `ApiError`, and the signal's reason when that aborts. */
  async transcribe(recording: Recording, context: SttContext): Promise<Transcribed> {
    const refusal = this.#parts.speech.refusal();
    if (refusal !== null) throw speechFault(refusal);
    if (this.#held >= HELD_MAX) throw busy(`There are ${HELD_MAX} recordings to transcribe already.`);
    this.#held += 1;
    try {
      const giveBack = await this.#slots.take(context.signal);
      return await this.#transcribe(recording, context).finally(giveBack);
    } catch (error) {
      context.signal.throwIfAborted();
      throw recordingFault(error);
    } finally {
      this.#held -= 1;
    }
  }

  async #transcribe(recording: Recording, context: SttContext): Promise<Transcribed> {
    const { decoder, observer } = this.#parts;
    const segmenter = new Segmenter(RECORDED_SEGMENTS);
    const texts: string[] = [];
    let samples = 0;
    for await (const piece of decoder.decode(recording, context.signal)) {
      samples += piece.length;
      for (const segment of segmenter.push(piece)) texts.push(await this.#ask(segment, context));
    }
    const last = segmenter.cut();
    if (last !== null) texts.push(await this.#ask(last, context));
    const durationMs = (samples * 1000) / DECODED_RATE_HZ;
    observer.audioReceived(durationMs);
    return { text: texts.filter((text) => text !== "").join(" "), durationMs: Math.round(durationMs) };
  }

  async #ask({ samples }: SpeechSegment, { requestId, signal }: SttContext): Promise<string> {
    const request = { language: null, prompt: null, caller: requestId, urgency: "awaited", signal } as const;
    const { text } = await this.#parts.speech.transcribe({ type: "samples", samples }, request);
    return text.trim();
  }
}
