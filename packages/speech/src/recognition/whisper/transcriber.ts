import type { SpeechSegment } from "../segmenter.ts";
import {
  type SegmentDetails,
  SPEECH_RATE_HZ,
  type Transcript,
  type TranscriptionRequest,
  type TranscriptSegment,
} from "../speech-engine.ts";
import { fittedPositions, isLoud, padSamples, samplesOfWindow } from "./audio-window.ts";
import { cutSound } from "./cut-sound.ts";
import type { Answerer, EngineQueue } from "./engine-queue.ts";
import {
  type EngineReply,
  isUnsure,
  looksWrong,
  moreConfident,
  repeatsPrompt,
  withoutRepetition,
} from "./engine-reply.ts";
import { engineLanguage, languageCode } from "./languages.ts";
import type { ModelShape } from "./model/model-file.ts";

export interface TranscriberOptions {
  readonly queue: EngineQueue;
  readonly shape: ModelShape;
  readonly window: "fitted" | "full";
  /** The default language as a BCP 47 tag; if null, the engine detects it. */
  readonly language: string | null;
}

/** Longer sounds gain little from a fitted window. */
const FITTED_SAMPLES_MAX = 15 * SPEECH_RATE_HZ;

const TIMEOUT_BASE_MS = 10_000;
const TRIAL_MS_MAX = 5 * 60_000;
/**
 * How many times as long as the trial the longest piece may take: its window is six times as large, is full of text,
 * and may be decoded several times.
 */
const TIMEOUT_TRIALS = 60;

/** Splits sound of any length into questions for the engine, and joins the answers into a transcript. */
export class Transcriber {
  readonly #options: TranscriberOptions;
  /** How long the engine took for the trial's second of silence; null before the trial. */
  #trialMs: number | null = null;

  constructor(options: TranscriberOptions) {
    this.#options = options;
  }

  /**
   * Sends a second of silence to a new engine. Its first answer is slower than later ones, and some models load but
   * cannot be used.
   */
  async tryOut(engine: Answerer, signal: AbortSignal): Promise<void> {
    if (this.#trialMs !== null) return;
    const samples = new Int16Array(SPEECH_RATE_HZ);
    const positions = this.#fitPositions(samples);
    const startedMs = performance.now();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TRIAL_MS_MAX)]);
    await engine.ask({ samples, positions, language: "en", prompt: null }, limit);
    this.#trialMs = performance.now() - startedMs;
  }

  /** Does not remove silence. Rejects with `SpeechError`, or with the signal's reason if that aborts. */
  async transcribe(samples: Int16Array, request: TranscriptionRequest): Promise<Transcript> {
    if (samples.length === 0) return { text: "", segments: [], language: null };
    const pieces = this.#pieces(samples);
    const segments: TranscriptSegment[] = [];
    let text = "";
    let language: string | null = null;
    for (const [index, { samples: piece, startMs }] of pieces.entries()) {
      const reply = await this.#transcribePiece(piece, request, index > 0);
      const endMs = startMs + millisecondsOf(piece);
      for (const segment of reply.segments) {
        text += segment.text;
        segments.push({
          text: segment.text.trim(),
          startMs: Math.round(Math.min(endMs, startMs + segment.startMs)),
          endMs: Math.round(Math.min(endMs, startMs + segment.endMs)),
          ...(segment.details === undefined ? {} : { details: laterBy(startMs, segment.details) }),
        });
      }
      language ??= languageCode(reply.languageName);
    }
    return { text: text.trim(), segments, language };
  }

  /** Pieces that fit into the model's window. */
  #pieces(samples: Int16Array): SpeechSegment[] {
    let pieceStartMs = 0;
    return cutSound(samples, samplesOfWindow(this.#options.shape.positionsMax)).map((piece) => {
      const placedPiece = { samples: piece, startMs: pieceStartMs };
      pieceStartMs += millisecondsOf(piece);
      return placedPiece;
    });
  }

  async #transcribePiece(piece: Int16Array, request: TranscriptionRequest, isContinued: boolean): Promise<EngineReply> {
    const positions = this.#options.window === "fitted" ? this.#fitPositions(piece) : null;
    const options = { ...request, isContinued, timeoutMs: this.#timeoutMs(piece) };
    const question = {
      samples: padSamples(piece),
      language: this.#language(request),
      prompt: request.prompt,
      positions,
      ...(request.task === undefined ? {} : { task: request.task }),
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    };
    const { queue } = this.#options;
    const answer = await queue.ask(question, options);
    const reply = withoutRepetition(answer, { seconds: millisecondsOf(piece) / 1000 });
    if (positions === null && request.prompt === null) return reply; // There is no other way to ask.
    const isWrong = isMisled(reply, question.prompt, piece);
    if (!isWrong && (request.isGuess === true || !isUnsure(reply))) return reply;
    const second = await queue.ask({ ...question, positions: null, prompt: null }, { ...options, isContinued: true });
    if (isWrong) return second;
    return isMisled(second, null, piece) ? reply : moreConfident(reply, second);
  }

  #language(request: TranscriptionRequest): string {
    const { shape, language } = this.#options;
    return shape.isMultilingual ? engineLanguage(request.language ?? language) : "en";
  }

  #timeoutMs(piece: Int16Array): number {
    return Math.ceil(TIMEOUT_BASE_MS + millisecondsOf(piece) + TIMEOUT_TRIALS * (this.#trialMs ?? 0));
  }

  #fitPositions(samples: Int16Array): number | null {
    const { positionsMax } = this.#options.shape;
    const positions =
      samples.length > FITTED_SAMPLES_MAX ? positionsMax : fittedPositions(samples.length, positionsMax);
    return positions >= positionsMax ? null : positions;
  }
}

function laterBy(ms: number, details: SegmentDetails): SegmentDetails {
  const tokens = details.tokens.map((token) => ({ ...token, startMs: token.startMs + ms, endMs: token.endMs + ms }));
  return { ...details, tokens };
}

/** Whether a shortened window or the prompt seems to have misled the engine. */
function isMisled(reply: EngineReply, prompt: string | null, piece: Int16Array): boolean {
  if (prompt !== null && repeatsPrompt(reply, prompt)) return true;
  return looksWrong(reply, { seconds: millisecondsOf(piece) / 1000, isLoud: isLoud(piece) });
}

function millisecondsOf(samples: Int16Array): number {
  return (samples.length / SPEECH_RATE_HZ) * 1000;
}
