import { ProgramFailed, ProgramMissing, runProgram } from "@antiphon/programs/child-program.ts";
import { BYTES_PER_SAMPLE, FrameGatherer, samplesOf } from "../audio/pcm.ts";
import { AudioError } from "./audio-error.ts";
import { DECODED_RATE_HZ, type Recording } from "./recording.ts";
import type { AudioFormat } from "./sniff-format.ts";
import { openUnnamedFile } from "./unnamed-file.ts";

/** The demuxer of each format, so that a file cannot select one of ffmpeg's hundreds of others. */
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
/** Formats whose index may be at the end, so that ffmpeg needs to seek. */
const SEEKABLE: ReadonlySet<AudioFormat> = new Set(["aiff", "caf", "m4a"]);

/** How long ffmpeg may produce no output while it is being read. */
const SILENT_MS_MAX = 20_000;
/** Limit of one allocation in bytes, because a file may ask for any size. */
const ALLOCATION_BYTES_MAX = 128 * 1024 * 1024;

const CUT_OFF = /partial file|ended prematurely|truncat|unexpected eof|end of file/i;

export interface FfmpegOptions {
  /** A path, or a name on PATH. */
  readonly program: string;
  readonly format: AudioFormat;
  readonly durationMsMax: number;
}

/** Decodes with ffmpeg. Throws `AudioError`, of reason `unsupported` if ffmpeg is not installed. */
export async function* decodeWithFfmpeg(
  recording: Recording,
  options: FfmpegOptions,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const file = SEEKABLE.has(options.format) ? await openUnnamedFile(() => recording.read()) : null;
  const stall = new AbortController();
  let complaint = "";
  const output = runProgram({
    program: options.program,
    args: argumentsFor(options, file === null ? "pipe:0" : "/dev/fd/3"),
    input: file === null ? recording.read() : [],
    ...(file === null ? {} : { file: file.fd }),
    signal: AbortSignal.any([signal, stall.signal]),
    timeoutMs: null,
    outputBytesMax: bytesMax(options.durationMsMax),
    onComplaint: (text) => {
      complaint = text;
    },
  });
  const frames = new FrameGatherer(BYTES_PER_SAMPLE);
  try {
    for await (const bytes of abortingWhenStalled(output, SILENT_MS_MAX, stall)) yield samplesOf(frames.push(bytes));
    signal.throwIfAborted();
    if (stall.signal.aborted) throw new AudioError("broken", "The recording cannot be decoded: it takes too much time");
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
      `Unsupported format: ${format} needs the program ffmpeg, which is not installed`,
      error,
    );
  if (error instanceof ProgramFailed)
    return new AudioError(
      "broken",
      `The recording cannot be decoded as ${format}: it is damaged, cut off or of another format`,
      error,
    );
  return error;
}

/** Relays values, and aborts `stall` if the next one takes longer than `ms`. The reader's own time does not count. */
async function* abortingWhenStalled<T>(
  values: AsyncIterable<T>,
  ms: number,
  stall: AbortController,
): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setTimeout(() => stall.abort(), ms);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
