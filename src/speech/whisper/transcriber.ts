import type { SpeechSegment } from "../segmenter.ts";
import {
  SPEECH_RATE_HZ,
  type Transcript,
  type TranscriptionRequest,
  type TranscriptSegment,
} from "../speech-engine.ts";
import { filledUp, fittedPositions, isLoud, samplesOfWindow } from "./audio-window.ts";
import { cutSound } from "./cut-sound.ts";
import type { Answerer, EngineQueue } from "./engine-queue.ts";
import { type Heard, isUnsure, looksWrong, repeatsPrompt, surerOf, toldOnce } from "./engine-reply.ts";
import { engineLanguage, languageCode } from "./languages.ts";
import type { ModelShape } from "./model/model-file.ts";

export interface TranscriberOptions {
  readonly queue: EngineQueue;
  readonly shape: ModelShape;
  readonly window: "fitted" | "full";
  /** What is spoken where a request does not say; null: the engine finds out. */
  readonly language: string | null;
}

/** For longer sounds a fitted window gains little. */
const FITTED_SAMPLES_MAX = 15 * SPEECH_RATE_HZ;

const PATIENCE_MS = 10_000;
const TRIAL_MS_MAX = 5 * 60_000;
/**
 * How many times the work of the trial the longest piece may take: a window six times as large, and as much text as
 * fits, tried anew several times.
 */
const PATIENCE_OF_TRIALS = 60;

/** Makes sound of any length into questions that the engine can answer, and its answers into a transcript. */
export class Transcriber {
  readonly #options: TranscriberOptions;
  /** How long the engine took for next to nothing; null before it was tried. */
  #trialMs: number | null = null;

  constructor(options: TranscriberOptions) {
    this.#options = options;
  }

  /**
   * Lets a new engine hear a second of silence: its first answer is slower than the next, and some models load that
   * cannot be used.
   */
  async tryOut(engine: Answerer, signal: AbortSignal): Promise<void> {
    if (this.#trialMs !== null) return;
    const samples = new Int16Array(SPEECH_RATE_HZ);
    const positions = this.#fitted(samples);
    const startedMs = performance.now();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TRIAL_MS_MAX)]);
    await engine.ask({ samples, positions, language: "en", prompt: null }, limit);
    this.#trialMs = performance.now() - startedMs;
  }

  /**
   * Samples are heard as they are, silence included. Rejects with `SpeechError`, or with the signal's reason when that
   * aborts.
   */
  async transcribe(samples: Int16Array, request: TranscriptionRequest): Promise<Transcript> {
    if (samples.length === 0) return { text: "", segments: [], language: null };
    const pieces = this.#pieces(samples);
    const segments: TranscriptSegment[] = [];
    let text = "";
    let language: string | null = null;
    for (const [index, { samples: piece, startMs }] of pieces.entries()) {
      const heard = await this.#hear(piece, request, index > 0);
      const endMs = startMs + millisecondsOf(piece);
      for (const segment of heard.segments) {
        text += segment.text;
        segments.push({
          text: segment.text.trim(),
          startMs: Math.round(Math.min(endMs, startMs + segment.startMs)),
          endMs: Math.round(Math.min(endMs, startMs + segment.endMs)),
        });
      }
      language ??= languageCode(heard.languageName);
    }
    return { text: text.trim(), segments, language };
  }

  /** No longer than the model hears at once. */
  #pieces(samples: Int16Array): SpeechSegment[] {
    let pieceStartMs = 0;
    return cutSound(samples, samplesOfWindow(this.#options.shape.positionsMax)).map((piece) => {
      const placed = { samples: piece, startMs: pieceStartMs };
      pieceStartMs += millisecondsOf(piece);
      return placed;
    });
  }

  async #hear(piece: Int16Array, request: TranscriptionRequest, isContinued: boolean): Promise<Heard> {
    const positions = this.#options.window === "fitted" ? this.#fitted(piece) : null;
    const asking = { ...request, isContinued, timeoutMs: this.#patienceFor(piece) };
    const question = { samples: filledUp(piece), language: this.#language(request), prompt: request.prompt, positions };
    const { queue } = this.#options;
    const answer = await queue.ask(question, asking);
    const heard = toldOnce(answer, { seconds: millisecondsOf(piece) / 1000 });
    if (positions === null && request.prompt === null) return heard; // Nothing else can be tried.
    const isWrong = isMisled(heard, question.prompt, piece);
    if (!isWrong && (request.isGuess === true || !isUnsure(heard))) return heard;
    const second = await queue.ask({ ...question, positions: null, prompt: null }, { ...asking, isContinued: true });
    if (isWrong) return second;
    return isMisled(second, null, piece) ? heard : surerOf(heard, second);
  }

  #language(request: TranscriptionRequest): string {
    const { shape, language } = this.#options;
    return shape.isMultilingual ? engineLanguage(request.language ?? language) : "en";
  }

  #patienceFor(piece: Int16Array): number {
    return Math.ceil(PATIENCE_MS + millisecondsOf(piece) + PATIENCE_OF_TRIALS * (this.#trialMs ?? 0));
  }

  #fitted(samples: Int16Array): number | null {
    const { positionsMax } = this.#options.shape;
    const positions =
      samples.length > FITTED_SAMPLES_MAX ? positionsMax : fittedPositions(samples.length, positionsMax);
    return positions >= positionsMax ? null : positions;
  }
}

/** Whether the answer looks as if a shortened window, or what was said before, had misled the engine. */
function isMisled(heard: Heard, prompt: string | null, piece: Int16Array): boolean {
  if (prompt !== null && repeatsPrompt(heard, prompt)) return true;
  return looksWrong(heard, { seconds: millisecondsOf(piece) / 1000, isLoud: isLoud(piece) });
}

function millisecondsOf(samples: Int16Array): number {
  return (samples.length / SPEECH_RATE_HZ) * 1000;
}
