import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { TimeStretcher } from "../audio/time-stretcher.ts";
import { REFERENCE_VOICES } from "./espeak/reference-voices.ts";
import { type FfmpegEncoders, isCompressed } from "./ffmpeg-encoders.ts";
import { type VoiceEngine, VoiceError } from "./ports.ts";
import { sentenceSamples } from "./sentence-samples.ts";
import { SentenceCutter } from "./sentences/sentence-cutter.ts";
import { encodePcm16, encodeWav, SENTENCES_AT_ONCE_MAX } from "./spoken-output.ts";

/** The sample rate of all spoken texts. */
export const TEXT_SPEECH_RATE_HZ = 24_000;

/** Texts that are spoken at the same time. Each holds a voice and an encoder. */
const TEXTS_AT_ONCE_MAX = 32;

export type SpeechFormat = "aac" | "flac" | "mp3" | "opus" | "pcm" | "wav";

/** How a text is spoken. */
export interface TextVoice {
  /** The engine's name of the voice; null for the engine's own choice. */
  readonly voice: string | null;
  readonly format: SpeechFormat;
  /** 1 for the usual speed. */
  readonly speed: number;
  /** Called with the number of samples that are made, at `TEXT_SPEECH_RATE_HZ`. */
  readonly onSamples: (count: number) => void;
}

export type SettledVoice =
  | { readonly type: "settled"; readonly voice: string | null; readonly spokenBy: string }
  | { readonly type: "no_voice" }
  | { readonly type: "no_encoder" }
  | { readonly type: "busy"; readonly textsMax: number };

export interface TextSpeechOptions {
  readonly engine: VoiceEngine;
  /** The voice for requests that name none, or one that nobody knows; null for the engine's choice. */
  readonly voice: string | null;
  readonly ffmpegEncoders: FfmpegEncoders;
}

/** Speaks texts that are known as a whole. */
export class TextSpeech {
  readonly #options: TextSpeechOptions;
  readonly #slots = new Semaphore(SENTENCES_AT_ONCE_MAX);
  #texts = 0;

  constructor(options: TextSpeechOptions) {
    this.#options = options;
  }

  /** The names that requests may use: those of the reference, then the engine's own. Empty if no voice works here. */
  async voiceNames(signal: AbortSignal): Promise<readonly string[]> {
    try {
      const voices = await this.#options.engine.listVoices(signal);
      const own = voices?.filter(({ variantOf }) => variantOf === null).map(({ name }) => name) ?? [];
      return [...REFERENCE_VOICES.keys(), ...own];
    } catch (error) {
      if (error instanceof VoiceError) return [];
      throw error;
    }
  }

  /** Which voice speaks for a requested name, if the format can be made. An unknown name gets the default voice. */
  async settle(name: string | null, format: SpeechFormat, signal: AbortSignal): Promise<SettledVoice> {
    const { engine, voice: defaultVoice, ffmpegEncoders } = this.#options;
    if (this.#texts >= TEXTS_AT_ONCE_MAX) return { type: "busy", textsMax: TEXTS_AT_ONCE_MAX };
    const usual = defaultVoice === null ? null : engine.voiceFor(defaultVoice, defaultVoice);
    const choice = name === null ? usual : engine.voiceFor(name, defaultVoice);
    try {
      const voices = await engine.listVoices(signal);
      if (isCompressed(format) && !(await ffmpegEncoders.canEncode(format, signal))) return { type: "no_encoder" };
      const isKnown = voices === null || voices.some((one) => one.name === choice);
      const voice = isKnown ? choice : usual;
      return { type: "settled", voice, spokenBy: `${engine.name} ${voice ?? "default"}` };
    } catch (error) {
      if (error instanceof VoiceError) return { type: "no_voice" };
      throw error;
    }
  }

  /**
   * The bytes of one recording while it is made. Throws `VoiceError`. Ends early without throwing when `signal` aborts.
   */
  async *speak(sentences: readonly string[], how: TextVoice, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { encoders } = this.#options.ffmpegEncoders;
    const encode = isCompressed(how.format) ? encoders[how.format] : how.format === "wav" ? encodeWav : encodePcm16;
    const failure: { error: unknown } = { error: null };
    this.#texts += 1;
    try {
      yield* encode(this.#samples(sentences, how, failure, signal), TEXT_SPEECH_RATE_HZ, signal);
    } finally {
      this.#texts -= 1;
    }
    if (failure.error !== null && !signal.aborted) throw failure.error;
  }

  /** If the voice fails, the samples end, so that the encoder can end, too. */
  async *#samples(
    sentences: readonly string[],
    { voice, speed, onSamples }: TextVoice,
    failure: { error: unknown },
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array> {
    const how = { engine: this.#options.engine, voice, slots: this.#slots, sampleRateHz: TEXT_SPEECH_RATE_HZ };
    const stretcher = new TimeStretcher(speed, TEXT_SPEECH_RATE_HZ);
    const countSamples = (samples: Int16Array): Int16Array => {
      onSamples(samples.length);
      return samples;
    };
    try {
      for (const sentence of sentences) {
        for await (const samples of sentenceSamples(sentence, how, signal)) {
          const output = countSamples(stretcher.push(samples));
          if (output.length > 0) yield output;
        }
        if (signal.aborted) return;
      }
      const rest = countSamples(stretcher.end());
      if (rest.length > 0) yield rest;
    } catch (error) {
      failure.error = error;
    }
  }
}

/** The sentences of a text as they are spoken, without Markdown signs and code. Empty if there is nothing to speak. */
export function spokenSentences(text: string): readonly string[] {
  const cutter = new SentenceCutter();
  return [...cutter.push(text), ...cutter.end()];
}
