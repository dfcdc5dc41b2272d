import { pcmBytes } from "../../audio/pcm.ts";
import { runProgram } from "../child-program.ts";
import type { Encoder } from "../ports.ts";
import { Slots } from "../slots.ts";

/** One encoder lives as long as the answer it encodes; further ones wait, and so does their sound. */
export const ENCODERS_AT_ONCE_MAX = 32;
/** As long as the longest recording may take to be made, and then some. */
const ENCODING_TIMEOUT_MS = 60 * 60_000;
/** More than the longest recording in either format. */
const ENCODED_BYTES_MAX = 64 * 1024 * 1024;

const OUTPUT: Readonly<Record<"mp3" | "opus", readonly string[]>> = {
  mp3: ["-codec:a", "libmp3lame", "-b:a", "64k", "-id3v2_version", "0", "-write_xing", "0", "-f", "mp3"],
  opus: ["-codec:a", "libopus", "-application", "voip", "-b:a", "32k", "-page_duration", "100000", "-f", "ogg"],
};

/** Encoders that run ffmpeg, one for each recording: the sound of all sentences is one continuous stream. */
export function createFfmpegEncoders(program: string): Readonly<Record<"mp3" | "opus", Encoder>> {
  const slots = new Slots(ENCODERS_AT_ONCE_MAX);
  const encoder = (format: "mp3" | "opus"): Encoder =>
    async function* (pcm, sampleRateHz, signal) {
      const samples = pcm[Symbol.asyncIterator]();
      const first = await samples.next();
      if (first.done === true || signal.aborted) return;
      const giveBack = await slots.take(signal);
      try {
        yield* runProgram({
          program,
          args: [...QUIETLY, ...inputArguments(sampleRateHz), ...OUTPUT[format], "-flush_packets", "1", "pipe:1"],
          input: bytesOf(first.value, samples),
          signal,
          timeoutMs: ENCODING_TIMEOUT_MS,
          outputBytesMax: ENCODED_BYTES_MAX,
        });
      } finally {
        giveBack();
        await samples.return?.();
      }
    };
  return { mp3: encoder("mp3"), opus: encoder("opus") };
}

const QUIETLY = ["-hide_banner", "-loglevel", "error", "-nostdin"];

function inputArguments(sampleRateHz: number): readonly string[] {
  const format = ["-f", "s16le", "-ar", String(sampleRateHz), "-ac", "1"];
  return ["-probesize", "32", "-analyzeduration", "0", "-fflags", "nobuffer", ...format, "-i", "pipe:0"];
}

async function* bytesOf(first: Int16Array, rest: AsyncIterator<Int16Array>): AsyncGenerator<Uint8Array> {
  yield pcmBytes(first);
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield pcmBytes(next.value);
}
