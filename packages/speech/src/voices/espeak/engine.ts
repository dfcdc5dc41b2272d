import { ProgramFailed, ProgramMissing, runProgram } from "@antiphon/programs/child-program.ts";
import type { PcmChunk } from "../../audio/pcm.ts";
import { WavError, WavReader } from "../../audio/wav.ts";
import { type Voice, type VoiceEngine, VoiceError } from "../ports.ts";
import { readVariants, readVoices } from "./read-voices.ts";
import { REFERENCE_VOICES, voiceFor } from "./reference-voices.ts";

/** espeak-ng is a hundred times faster than a speaker, so a call that takes this long hangs. */
const SENTENCE_TIMEOUT_MS = 30_000;
const LIST_TIMEOUT_MS = 10_000;
/** Five minutes of its sound, far more than a sentence needs. */
const SENTENCE_BYTES_MAX = 5 * 60 * 22_050 * 2;
const LIST_BYTES_MAX = 256 * 1024;

/** The location of espeak-ng. */
export interface EspeakOptions {
  /** A path, or a name that is looked up on PATH. */
  readonly program: string;
}

/**
 * Speaks with espeak-ng, which is started once per sentence. The text goes through standard input, so that it does not
 * appear in the process list.
 */
export function createEspeakEngine(options: EspeakOptions): VoiceEngine {
  return new EspeakEngine(options.program);
}

class EspeakEngine implements VoiceEngine {
  readonly name = "espeak-ng";
  readonly referenceVoices = [...REFERENCE_VOICES.keys()];
  readonly voiceFor = voiceFor;
  readonly #program: string;
  #voices: readonly Voice[] | null = null;

  constructor(program: string) {
    this.#program = program;
  }

  /** The voice of each language, alone and with every variant. */
  async listVoices(signal: AbortSignal): Promise<readonly Voice[]> {
    if (this.#voices !== null) return this.#voices;
    const plain = readVoices(await this.#table("--voices", signal));
    const variants = readVariants(await this.#table("--voices=variant", signal));
    if (plain.length === 0) throw new VoiceError(`${this.#program} lists no voices`);
    const variantVoices = plain.flatMap(({ name, language }) =>
      variants.map((variant) => ({ name: `${name}+${variant}`, language, variantOf: name })),
    );
    this.#voices = [...plain, ...variantVoices];
    return this.#voices;
  }

  async *speak(text: string, voice: string | null, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    const wav = new WavReader();
    const output = runProgram({
      program: this.#program,
      args: ["--stdin", "--stdout", "-b", "1", ...(voice === null ? [] : ["-v", voice])],
      input: [Buffer.from(speakableText(text))],
      signal,
      timeoutMs: SENTENCE_TIMEOUT_MS,
      outputBytesMax: SENTENCE_BYTES_MAX,
    });
    try {
      for await (const bytes of output) {
        const samples = wav.push(bytes);
        if (samples.length > 0 && wav.format !== null) yield { sampleRateHz: wav.format.sampleRateHz, samples };
      }
    } catch (error) {
      throw voiceError(error);
    }
    if (wav.format === null && !signal.aborted) throw new VoiceError("espeak-ng produced no sound");
  }

  async #table(argument: string, signal: AbortSignal): Promise<string> {
    const pieces: Uint8Array[] = [];
    const limits = { timeoutMs: LIST_TIMEOUT_MS, outputBytesMax: LIST_BYTES_MAX };
    try {
      for await (const bytes of runProgram({ program: this.#program, args: [argument], input: [], signal, ...limits }))
        pieces.push(bytes);
    } catch (error) {
      throw voiceError(error);
    }
    signal.throwIfAborted();
    return Buffer.concat(pieces).toString("utf8");
  }
}

/** Removes `[[`, which starts phoneme input, and control characters, which start commands. */
function speakableText(text: string): string {
  return text.replaceAll(/\[\[|\]\]/g, " ").replaceAll(/\p{Cc}/gu, " ");
}

function voiceError(error: unknown): unknown {
  const isKnown = error instanceof ProgramMissing || error instanceof ProgramFailed || error instanceof WavError;
  return isKnown ? new VoiceError(error.message, { cause: error }) : error;
}
