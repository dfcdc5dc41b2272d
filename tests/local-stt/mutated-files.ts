import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encoded } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";

/** A fixed sequence of numbers from 0 to below 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A WAV file in each supported encoding. */
export function inAllFormats(wav: Uint8Array): Readonly<Record<string, Buffer>> {
  const path = join(tmpdir(), `antiphon-${process.pid}-mutated.m4a`);
  execFileSync("ffmpeg", ["-loglevel", "error", "-y", "-f", "wav", "-i", "pipe:0", path], { input: wav });
  const m4a = readFileSync(path);
  rmSync(path);
  return {
    wav: Buffer.from(wav),
    flac: encoded(wav, "-f", "flac"),
    "webm of Opus": encoded(wav, "-c:a", "libopus", "-f", "webm"),
    "webm as browsers record it": encoded(wav, "-c:a", "libopus", "-live", "1", "-f", "webm"),
    "webm of Vorbis": encoded(wav, "-c:a", "libvorbis", "-f", "webm"),
    "ogg of Opus": encoded(wav, "-c:a", "libopus", "-f", "ogg"),
    mp3: encoded(wav, "-f", "mp3"),
    m4a,
  };
}

/** Lengths and counts that a malicious file may declare. */
const LIES = [0xffff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff, 1, 0];
const HEAD_BYTES = 300;

interface Cut {
  readonly bytes: Buffer;
  readonly place: number;
  readonly roll: (below: number) => number;
  /** Files to take pieces from. */
  readonly others: readonly Buffer[];
}

const CHANGES: readonly ((cut: Cut) => Buffer)[] = [
  function flipBit({ bytes, place, roll }) {
    bytes[place] = (bytes[place] ?? 0) ^ (1 << roll(8));
    return bytes;
  },
  function setByte({ bytes, place, roll }) {
    bytes[place] = roll(256);
    return bytes;
  },
  function cutOff({ bytes, roll }) {
    return bytes.subarray(0, 1 + roll(bytes.length));
  },
  function lieLittleEndian({ bytes, place, roll }) {
    if (place + 4 <= bytes.length) bytes.writeUInt32LE(LIES[roll(LIES.length)] ?? 0, place);
    return bytes;
  },
  function lieBigEndian({ bytes, place, roll }) {
    if (place + 4 <= bytes.length) bytes.writeUInt32BE(LIES[roll(LIES.length)] ?? 0, place);
    return bytes;
  },
  function repeatPiece({ bytes, place, roll }) {
    const from = roll(bytes.length);
    return Buffer.concat([bytes.subarray(0, place), bytes.subarray(from, from + roll(500)), bytes.subarray(place)]);
  },
  function spliceHeader({ bytes, place, roll, others }) {
    const other = others[roll(others.length)] ?? bytes;
    return Buffer.concat([bytes.subarray(0, place), other.subarray(0, roll(HEAD_BYTES)), bytes.subarray(place)]);
  },
  function leaveOut({ bytes, place, roll }) {
    return Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + roll(60))]);
  },
];

/**
 * Makes up to eight changes to a file, half of them in its head. The checksums of Ogg pages are sometimes corrected, so
 * that the code behind them is tested too.
 */
export function mutated(original: Buffer, others: readonly Buffer[], random: () => number): Buffer {
  const roll = (below: number): number => Math.floor(random() * below);
  let bytes = Buffer.from(original);
  for (let changes = 1 + roll(8); changes > 0; changes -= 1) {
    const place = roll(roll(2) === 0 ? Math.min(HEAD_BYTES, bytes.length) : bytes.length);
    bytes = Buffer.from(CHANGES[roll(CHANGES.length)]?.({ bytes, place, roll, others }) ?? bytes);
  }
  return roll(2) === 0 ? withOggSums(bytes) : bytes;
}

const CRC32 = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? 0x04c1_1db7 : 0);
  return sum;
});

const PAGE_HEAD_BYTES = 27;

/** Corrects the checksum of each Ogg page. */
export function withOggSums(bytes: Buffer): Buffer {
  for (let place = bytes.indexOf("OggS"); place >= 0; place = bytes.indexOf("OggS", place + 4)) {
    if (place + PAGE_HEAD_BYTES > bytes.length) break;
    const lacing = bytes.subarray(place + PAGE_HEAD_BYTES, place + PAGE_HEAD_BYTES + (bytes[place + 26] ?? 0));
    const end = place + PAGE_HEAD_BYTES + lacing.length + lacing.reduce((sum, length) => sum + length, 0);
    bytes.writeUInt32LE(0, place + 22);
    let sum = 0;
    for (const byte of bytes.subarray(place, end)) sum = (sum << 8) ^ (CRC32[((sum >>> 24) ^ byte) & 0xff] ?? 0);
    bytes.writeUInt32LE(sum >>> 0, place + 22);
  }
  return bytes;
}
