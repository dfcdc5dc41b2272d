import { describe, expect, test } from "vitest";
import { AudioError } from "./audio-error.ts";
import {
  encoded,
  encodedFile,
  HAS_FFMPEG,
  recordingOf,
  soundFoldersOf,
  tones,
  wavFile,
} from "./encoded-sound.fixture.ts";
import { createRecordingDecoder } from "./recording-decoder.ts";

const TONES = [410, 857, 1722, 3437];
const TONE_MS = 400;
const mono44 = wavFile(tones(TONES, { rateHz: 44_100, toneMs: TONE_MS }), 44_100);

/** Adds the length to the header, which ffmpeg does not know when it writes to a pipe. */
function wavOf(...args: readonly string[]): Buffer {
  const wav = encoded(mono44, ...args, "-f", "wav");
  const place = wav.indexOf("data") + 4;
  wav.writeUInt32LE(wav.length - place - 4, place);
  return wav;
}

/** Files as written by programs that can seek: with sizes, and with the index after the sound. */
function encodeFiles(): Readonly<Record<string, Buffer>> {
  const stereo44 = wavOf("-ac", "2");
  return {
    wav: stereo44,
    "wav of 24 bits": wavOf("-ac", "2", "-c:a", "pcm_s24le"),
    "wav of floats at 96 kHz": wavOf("-ac", "2", "-c:a", "pcm_f32le", "-ar", "96000"),
    "wav of 8 bits at 8 kHz": wavOf("-ac", "2", "-c:a", "pcm_u8", "-ar", "8000"),
    "wav of ADPCM": wavOf("-ac", "2", "-c:a", "adpcm_ms"),
    "wav of mu-law": wavOf("-ac", "2", "-c:a", "pcm_mulaw"),
    aac: encoded(stereo44, "-c:a", "aac", "-f", "adts"),
    aiff: encodedFile(stereo44, "aiff"),
    caf: encodedFile(stereo44, "caf"),
    mp3: encoded(stereo44, "-f", "mp3"),
    m4a: encodedFile(stereo44, "m4a"),
    "m4a for streams": encoded(stereo44, "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"),
    flac: encoded(stereo44, "-f", "flac"),
    "flac of 24 bits at 48 kHz": encoded(stereo44, "-sample_fmt", "s32", "-ar", "48000", "-f", "flac"),
    webm: encoded(stereo44, "-c:a", "libopus", "-f", "webm"),
    "webm as browsers record it": encoded(
      stereo44,
      "-c:a",
      "libopus",
      "-frame_duration",
      "60",
      "-live",
      "1",
      "-f",
      "webm",
    ),
    "webm with vorbis": encoded(stereo44, "-c:a", "libvorbis", "-f", "webm"),
    "ogg with opus": encoded(stereo44, "-c:a", "libopus", "-f", "ogg"),
    "ogg with vorbis": encoded(stereo44, "-c:a", "libvorbis", "-f", "ogg"),
  };
}

const FILES = HAS_FFMPEG ? encodeFiles() : {};
/** Formats that ffmpeg decodes to the cut without reporting that sound is missing. */
const PLAYED_TO_THE_CUT: ReadonlySet<string> = new Set([
  "wav of ADPCM",
  "wav of mu-law",
  "aac",
  "aiff",
  "caf",
  "mp3",
  "ogg with vorbis",
]);
/** Formats that are decoded without ffmpeg. */
const OWN = [
  "wav",
  "wav of 24 bits",
  "flac",
  "flac of 24 bits at 48 kHz",
  "webm",
  "webm as browsers record it",
  "ogg with opus",
];

async function decode(
  bytes: Uint8Array,
  options: { ffmpeg?: string; durationMsMax?: number; signal?: AbortSignal } = {},
) {
  const { ffmpeg = "ffmpeg", durationMsMax = 60_000, signal = new AbortController().signal } = options;
  const decoder = createRecordingDecoder({ ffmpeg, durationMsMax });
  const samples: number[] = [];
  for await (const piece of decoder.decode(recordingOf(bytes), signal))
    for (const sample of piece) samples.push(sample);
  return samples;
}

/** Measures the frequency in the middle of each tone by zero crossings. */
function frequenciesOf(samples: readonly number[]): number[] {
  return TONES.map((_, tone) => {
    const middle = samples.slice((tone + 0.25) * TONE_MS * 16, (tone + 0.75) * TONE_MS * 16);
    const crossings = middle.filter((sample, n) => n > 0 && sample >= 0 !== (middle[n - 1] ?? 0) >= 0).length;
    return (crossings / 2 / middle.length) * 16_000;
  });
}

function loudness(samples: readonly number[]): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

describe.skipIf(!HAS_FFMPEG)("a recording", () => {
  test.each(Object.keys(FILES))("in %s is decoded correctly", async (name) => {
    const samples = await decode(FILES[name] ?? Buffer.alloc(0));
    expect(samples.length / 16).toBeGreaterThan(TONES.length * TONE_MS - 40);
    expect(samples.length / 16).toBeLessThan(TONES.length * TONE_MS + 80);
    for (const [index, frequency] of frequenciesOf(samples).entries()) {
      expect(frequency).toBeGreaterThan((TONES[index] ?? 0) * 0.98);
      expect(frequency).toBeLessThan((TONES[index] ?? 0) * 1.02);
    }
    expect(loudness(samples)).toBeGreaterThan(3700);
    expect(loudness(samples)).toBeLessThan(4100);
  });

  test.each(OWN)("in %s needs no other program", async (name) => {
    expect(await decode(FILES[name] ?? Buffer.alloc(0), { ffmpeg: "/no/such/program" })).not.toHaveLength(0);
  });

  test("that needs ffmpeg is unsupported without it, and the message says why", async () => {
    for (const name of ["mp3", "m4a", "webm with vorbis", "ogg with vorbis"])
      await expect(decode(FILES[name] ?? Buffer.alloc(0), { ffmpeg: "/no/such/program" })).rejects.toMatchObject({
        reason: "unsupported",
        message: expect.stringMatching(/^Unsupported format: .*ffmpeg/),
      });
  });

  test.each(Object.keys(FILES).filter((name) => !PLAYED_TO_THE_CUT.has(name)))(
    "in %s that is cut off is broken",
    async (name) => {
      const bytes = FILES[name] ?? Buffer.alloc(0);
      for (const part of [0.3, 0.7, 0.97])
        await expect(decode(bytes.subarray(0, Math.floor(bytes.length * part)))).rejects.toMatchObject({
          reason: "broken",
        });
    },
  );

  test("that is too long is refused as soon as it exceeds the limit", async () => {
    for (const name of ["wav", "mp3", "m4a", "flac", "webm"])
      await expect(decode(FILES[name] ?? Buffer.alloc(0), { durationMsMax: 1000 })).rejects.toMatchObject({
        reason: "too_long",
      });
  });
});

describe("a recording", () => {
  test("without sound is empty", async () => {
    await expect(decode(Buffer.alloc(0))).rejects.toMatchObject({ reason: "empty" });
    await expect(decode(wavFile(new Int16Array(0), 16_000))).rejects.toMatchObject({ reason: "empty" });
  });

  test("in an unknown format is unsupported", async () => {
    const texts = ["hello", "%PDF-1.7 and more of it", "\x89PNG\r\n\x1a\n", "\x00\x00\x00\x00"];
    for (const text of texts)
      await expect(decode(Buffer.from(text, "latin1"))).rejects.toMatchObject({ reason: "unsupported" });
  });

  test("with a valid start and invalid content is refused", async () => {
    const noise = Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 251));
    const starts = [
      "RIFF\0\0\0\0WAVE",
      "fLaC",
      "OggS\0",
      "\x1a\x45\xdf\xa3",
      "\0\0\0\x20ftypM4A ",
      "ID3\x04\0\0",
      "\xff\xfb\x90\x64",
    ];
    for (const start of starts) {
      const failure = await decode(Buffer.concat([Buffer.from(start, "latin1"), noise])).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(AudioError);
      expect(failure).toMatchObject({ reason: expect.stringMatching(/^(broken|empty|unsupported)$/) });
    }
  });
});

test.skipIf(!HAS_FFMPEG)("decoding stops when the reader stops, and leaves no file", async () => {
  for (const name of ["m4a", "mp3", "flac", "wav"]) {
    const decoder = createRecordingDecoder({ ffmpeg: "ffmpeg", durationMsMax: 60_000 });
    for await (const _piece of decoder.decode(
      recordingOf(FILES[name] ?? Buffer.alloc(0)),
      new AbortController().signal,
    ))
      break;
    const leaving = new AbortController();
    leaving.abort(new Error("left"));
    await expect(decode(FILES[name] ?? Buffer.alloc(0), { signal: leaving.signal })).rejects.toThrow("left");
  }
  expect(soundFoldersOf(process.pid)).toEqual([]);
});
