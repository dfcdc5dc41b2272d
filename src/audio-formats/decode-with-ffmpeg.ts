import { BYTES_PER_SAMPLE, FrameGatherer, samplesOf } from "../audio/pcm.ts";
import { ProgramFailed, ProgramMissing, runProgram } from "../programs/child-program.ts";
import { AudioError } from "./audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "./recording.ts";
import type { AudioFormat } from "./sniff-format.ts";
import { openUnnamedFile } from "./unnamed-file.ts";

/** The demuxer of each format, so that a file cannot choose among the hundreds that there are. */
const DEMUXERS: Readonly<Record<AudioFormat, string>> = {
  aac: "aac",
  aiff: "aiff",
  caf: "caf",
  flac: "flac",
  m4a: "mov",
  mp3: "mp3",
  ogg: "ogg",
  wav: "wav",
  webm: "matroska",
};
/** Its index may stand at the end, so that it is read in any order. */
const SEEKABLE: ReadonlySet<AudioFormat> = new Set(["aiff", "caf", "m4a"]);

/** How long the decoder may give nothing while something is wanted. */
const SILENT_MS_MAX = 20_000;
/** Bytes of one piece of memory: files may claim to need any number. */
const ALLOCATION_BYTES_MAX = 128 * 1024 * 1024;

const CUT_OFF = /partial file|ended prematurely|truncat|unexpected eof|end of file/i;

export interface FfmpegOptions {
  /** A path, or a name on PATH. */
  readonly program: string;
  readonly format: AudioFormat;
  readonly durationMsMax: number;
}

/** Decodes by ffmpeg. Throws `AudioError`, of reason `unsupported` where the program is not there. */
export async function* decodeWithFfmpeg(
  recording: Recording,
  options: FfmpegOptions,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const file = SEEKABLE.has(options.format) ? await openUnnamedFile(() => recording.read()) : null;
  const impatience = new AbortController();
  let complaint = "";
  const output = runProgram({
    program: options.program,
    args: argumentsFor(options, file === null ? "pipe:0" : "/dev/fd/3"),
    input: file === null ? recording.read() : [],
    ...(file === null ? {} : { file: file.fd }),
    signal: AbortSignal.any([signal, impatience.signal]),
    timeoutMs: null,
    outputBytesMax: bytesMax(options.durationMsMax),
    onComplaint: (text) => {
      complaint = text;
    },
  });
  const frames = new FrameGatherer(BYTES_PER_SAMPLE);
  try {
    for await (const bytes of withPatience(output, SILENT_MS_MAX, impatience)) yield samplesOf(frames.push(bytes));
    signal.throwIfAborted();
    if (impatience.signal.aborted)
      throw new AudioError("broken", "The recording cannot be decoded: it takes too much time");
    if (CUT_OFF.test(complaint)) throw new AudioError("broken", "The recording is cut off");
  } catch (error) {
    throw audioError(error, options.format);
  } finally {
    await file?.close();
  }
}

function argumentsFor({ format, durationMsMax }: FfmpegOptions, input: string): readonly string[] {
  const guard = ["-hide_banner", "-loglevel", "error", "-nostdin", "-max_alloc", String(ALLOCATION_BYTES_MAX)];
  const source = ["-protocol_whitelist", "pipe,file", "-f", DEMUXERS[format], "-i", input];
  const sound = ["-map", "0:a:0", "-vn", "-sn", "-dn", "-t", String(durationMsMax / 1000 + 1)];
  return [...guard, ...source, ...sound, "-f", "s16le", "-ac", "1", "-ar", String(DECODED_RATE_HZ), "pipe:1"];
}

function bytesMax(durationMsMax: number): number {
  return Math.ceil((durationMsMax / 1000 + 2) * DECODED_RATE_HZ * BYTES_PER_SAMPLE);
}

function audioError(error: unknown, format: AudioFormat): unknown {
  if (error instanceof ProgramMissing)
    return new AudioError(
      "unsupported",
      `Unsupported format: ${format} needs the program ffmpeg, which is not there`,
      error,
    );
  if (error instanceof ProgramFailed)
    return new AudioError(
      "broken",
      `The recording cannot be decoded as ${format}: it is damaged, cut off or something else`,
      error,
    );
  return error;
}

/**
 * The values as they come; aborts `impatience` when one that is wanted takes longer than `ms`. The time that a reader
 * takes does not count.
 */
async function* withPatience<T>(values: AsyncIterable<T>, ms: number, impatience: AbortController): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setTimeout(() => impatience.abort(), ms);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
