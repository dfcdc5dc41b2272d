import { assertNever } from "@antiphon/base/assert.ts";
import { AudioError } from "./audio-error.ts";
import { decodeInThread } from "./decode-in-thread.ts";
import { decodeWav } from "./decode-wav.ts";
import { decodeWithFfmpeg } from "./decode-with-ffmpeg.ts";
import { DECODED_RATE_HZ, type Recording } from "./recording.ts";
import { type AudioFormat, SNIFFED_BYTES, sniffFormat } from "./sniff-format.ts";

export interface RecordingDecoderOptions {
  /** A path, or a name on PATH. Decodes mp3, m4a and rare formats. */
  readonly ffmpeg: string;
  readonly durationMsMax: number;
}

/** Decodes recordings of any format to mono samples at 16,000 per second. */
export interface RecordingDecoder {
  /**
   * Yields samples while they are decoded, at the reader's pace. Throws `AudioError`, or the signal's reason if the
   * signal aborts.
   */
  decode(recording: Recording, signal: AbortSignal): AsyncIterable<Int16Array>;
}

const KNOWN = "wav, mp3, m4a, flac, webm, ogg, aac, aiff and caf";
const BY_FFMPEG: ReadonlySet<AudioFormat> = new Set(["aac", "aiff", "caf", "m4a", "mp3"]);

/**
 * Decodes WAV, FLAC and Opus in this process, and everything else with ffmpeg if it is installed. Detects the format by
 * the bytes.
 */
export function createRecordingDecoder(options: RecordingDecoderOptions): RecordingDecoder {
  return {
    async *decode(recording, signal) {
      const format = await formatOf(recording);
      let samples = 0;
      for await (const piece of decodeAs(format, recording, options, signal)) {
        samples += piece.length;
        if (samples * 1000 > options.durationMsMax * DECODED_RATE_HZ)
          throw new AudioError("too_long", `The recording is longer than ${options.durationMsMax / 60_000} minutes`);
        if (piece.length > 0) yield piece;
      }
      if (samples === 0) throw new AudioError("empty", "The recording holds no sound");
    },
  };
}

async function formatOf(recording: Recording): Promise<AudioFormat> {
  let start = Buffer.alloc(0);
  for await (const bytes of recording.read()) {
    start = Buffer.concat([start, bytes.subarray(0, SNIFFED_BYTES)]);
    if (start.length >= SNIFFED_BYTES) break;
  }
  if (start.length === 0) throw new AudioError("empty", "The recording is an empty file");
  const format = sniffFormat(start);
  if (format === null) throw new AudioError("unsupported", `Unsupported format: supported are ${KNOWN}`);
  return format;
}

async function* decodeAs(
  format: AudioFormat,
  recording: Recording,
  { ffmpeg, durationMsMax }: RecordingDecoderOptions,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const byFfmpeg = { program: ffmpeg, format, durationMsMax };
  if (BY_FFMPEG.has(format)) return yield* decodeWithFfmpeg(recording, byFfmpeg, signal);
  let began = false;
  try {
    for await (const piece of decodeHere(format, recording, signal)) {
      began = true;
      yield piece;
    }
  } catch (error) {
    if (began || !(error instanceof AudioError) || error.reason !== "unsupported") throw error;
    yield* decodeWithFfmpeg(recording, byFfmpeg, signal);
  }
}

/** Decodes without ffmpeg. Throws `AudioError` of reason `unsupported` for an encoding that needs ffmpeg. */
function decodeHere(format: AudioFormat, recording: Recording, signal: AbortSignal): AsyncIterable<Int16Array> {
  switch (format) {
    case "wav":
      return decodeWav(recording, signal);
    case "flac":
    case "ogg":
    case "webm":
      return decodeInThread(format, recording, signal);
    case "aac":
    case "aiff":
    case "caf":
    case "m4a":
    case "mp3":
      throw new AudioError("unsupported", `Unsupported format: ${format}`);
    default:
      return assertNever(format);
  }
}
