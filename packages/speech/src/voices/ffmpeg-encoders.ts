import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { ProgramFailed, ProgramMissing, runProgram } from "@antiphon/programs/child-program.ts";
import { pcmBytes } from "../audio/pcm.ts";
import type { Encoder } from "./ports.ts";

/** Each spoken answer occupies one encoder until it ends. Further answers wait with their sound. */
export const ENCODERS_AT_ONCE_MAX = 32;
/** Longer than the longest answer takes to be spoken. */
const ENCODING_TIMEOUT_MS = 60 * 60_000;
/** More than the longest answer needs in either format. */
const ENCODED_BYTES_MAX = 64 * 1024 * 1024;

const LIST_TIMEOUT_MS = 10_000;
const LIST_BYTES_MAX = 256 * 1024;

const LIBRARY: Readonly<Record<CompressedFormat, string>> = {
  aac: "aac",
  flac: "flac",
  mp3: "libmp3lame",
  opus: "libopus",
};
const OUTPUT: Readonly<Record<CompressedFormat, readonly string[]>> = {
  aac: ["-codec:a", LIBRARY.aac, "-b:a", "64k", "-f", "adts"],
  flac: ["-codec:a", LIBRARY.flac, "-f", "flac"],
  mp3: ["-codec:a", LIBRARY.mp3, "-b:a", "64k", "-id3v2_version", "0", "-write_xing", "0", "-f", "mp3"],
  opus: ["-codec:a", LIBRARY.opus, "-application", "voip", "-b:a", "32k", "-page_duration", "100000", "-f", "ogg"],
};

export type CompressedFormat = "aac" | "flac" | "mp3" | "opus";

/** Encoders for compressed formats, which need ffmpeg. */
export interface FfmpegEncoders {
  readonly encoders: Readonly<Record<CompressedFormat, Encoder>>;
  /** Whether ffmpeg is installed and was built with the encoder of this format. */
  canEncode(format: CompressedFormat, signal: AbortSignal): Promise<boolean>;
}

export function isCompressed(format: string): format is CompressedFormat {
  return Object.hasOwn(LIBRARY, format);
}

/**
 * Encoders that run ffmpeg once per answer, so that the sound of all sentences is one continuous stream. `program` is a
 * path, or a name on PATH.
 */
export function createFfmpegEncoders(program: string): FfmpegEncoders {
  const slots = new Semaphore(ENCODERS_AT_ONCE_MAX);
  let listing: string | null = null;
  return {
    encoders: {
      aac: encoder(program, "aac", slots),
      flac: encoder(program, "flac", slots),
      mp3: encoder(program, "mp3", slots),
      opus: encoder(program, "opus", slots),
    },
    canEncode: async (format, signal) => {
      listing ??= await listEncoders(program, signal);
      return new RegExp(`\\s${LIBRARY[format]}\\s`).test(listing ?? "");
    },
  };
}

/** ffmpeg's list of encoders; null if ffmpeg cannot be run. */
async function listEncoders(program: string, signal: AbortSignal): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  const limits = { timeoutMs: LIST_TIMEOUT_MS, outputBytesMax: LIST_BYTES_MAX };
  try {
    for await (const piece of runProgram({
      program,
      args: ["-hide_banner", "-encoders"],
      input: [],
      signal,
      ...limits,
    }))
      pieces.push(piece);
  } catch (error) {
    if (error instanceof ProgramMissing || error instanceof ProgramFailed) return null;
    throw error;
  }
  signal.throwIfAborted();
  return Buffer.concat(pieces).toString("utf8");
}

function encoder(program: string, format: CompressedFormat, slots: Semaphore): Encoder {
  return async function* (pcm, sampleRateHz, signal) {
    const samples = pcm[Symbol.asyncIterator]();
    const first = await samples.next();
    if (first.done === true || signal.aborted) return;
    const giveBack = await slots.take(signal);
    try {
      yield* runProgram({
        program,
        args: [...QUIET_ARGS, ...inputArguments(sampleRateHz), ...OUTPUT[format], "-flush_packets", "1", "pipe:1"],
        input: pcmStream(first.value, samples),
        signal,
        timeoutMs: ENCODING_TIMEOUT_MS,
        outputBytesMax: ENCODED_BYTES_MAX,
      });
    } finally {
      giveBack();
      await samples.return?.();
    }
  };
}

const QUIET_ARGS = ["-hide_banner", "-loglevel", "error", "-nostdin"];

function inputArguments(sampleRateHz: number): readonly string[] {
  const format = ["-f", "s16le", "-ar", String(sampleRateHz), "-ac", "1"];
  return ["-probesize", "32", "-analyzeduration", "0", "-fflags", "nobuffer", ...format, "-i", "pipe:0"];
}

async function* pcmStream(first: Int16Array, rest: AsyncIterator<Int16Array>): AsyncGenerator<Uint8Array> {
  yield pcmBytes(first);
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield pcmBytes(next.value);
}
