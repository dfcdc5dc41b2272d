import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isInstalled } from "../../../../tests/voices/programs.ts";
import { pcmBytes } from "../audio/pcm.ts";
import { wavHeader } from "../audio/wav.ts";
import type { Recording } from "./recording.ts";

/** Tones of these frequencies in order, each of `toneMs`. */
export function tones(frequenciesHz: readonly number[], options: { rateHz: number; toneMs: number }): Int16Array {
  const length = (options.rateHz * options.toneMs) / 1000;
  return Int16Array.from({ length: length * frequenciesHz.length }, (_, n) => {
    const frequency = frequenciesHz[Math.floor(n / length)] ?? 0;
    return Math.round(8000 * Math.sin((2 * Math.PI * frequency * n) / options.rateHz));
  });
}

export function wavFile(samples: Int16Array, rateHz: number): Buffer {
  const bytes = pcmBytes(samples);
  return Buffer.concat([wavHeader(rateHz, bytes.length), bytes]);
}

/** Tests that need ffmpeg are skipped without it. */
export const HAS_FFMPEG = isInstalled("ffmpeg", "-version");

/** Encodes a WAV file with ffmpeg. */
export function encoded(wav: Uint8Array, ...args: readonly string[]): Buffer {
  const quietly = ["-hide_banner", "-loglevel", "error", "-f", "wav", "-i", "pipe:0"];
  return execFileSync("ffmpeg", [...quietly, ...args, "pipe:1"], { input: wav, maxBuffer: 1 << 28 });
}

/** The same through a file, for formats whose header is written last. The extension selects the format. */
export function encodedFile(wav: Uint8Array, extension: string): Buffer {
  const path = join(tmpdir(), `antiphon-${randomUUID()}.${extension}`);
  try {
    execFileSync("ffmpeg", ["-hide_banner", "-loglevel", "error", "-f", "wav", "-i", "pipe:0", path], { input: wav });
    return readFileSync(path);
  } finally {
    rmSync(path, { force: true });
  }
}

/** The temporary folders of recordings that a process has left. */
export function soundFoldersOf(pid: number | undefined): readonly string[] {
  const names = ["/dev/shm", tmpdir()].flatMap((folder) => readdirSync(folder));
  return names.filter((name) => name.startsWith(`antiphon-sound-${pid}-`));
}

export function recordingOf(bytes: Uint8Array, pieceBytes = 65_536): Recording {
  return {
    size: bytes.length,
    async *read() {
      for (let place = 0; place < bytes.length; place += pieceBytes) yield bytes.subarray(place, place + pieceBytes);
    },
  };
}
