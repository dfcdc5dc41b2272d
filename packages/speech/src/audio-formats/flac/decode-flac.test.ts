import { beforeAll, describe, expect, test, vi } from "vitest";
import { encodedFile, HAS_FFMPEG, tones, wavFile } from "../encoded-sound.fixture.ts";
import { decodeFlac } from "./decode-flac.ts";
import { splitFrames } from "./split-frames.ts";
import { readStreamInfo } from "./stream-info.ts";

const RATE_HZ = 16_000;
const SOUND = tones([410, 857, 1722], { rateHz: RATE_HZ, toneMs: 400 });
const WITHIN_SOUND = 40;
/** Offset of the first channel's header, after the frame header. */
const KIND_PLACE = 6;

/** A file whose header holds the number of samples. */
let file: Buffer;
let firstPlace: number;
let frames: readonly Buffer[];

async function decoded(bytes: Uint8Array): Promise<number[]> {
  return (await Array.fromAsync(decodeFlac(bytes))).flatMap((piece) => [...piece]);
}

function fileOf(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat([file.subarray(0, firstPlace), ...parts]);
}

/** Corrects the checksum, so that the decoder reads the changed content. */
function withSum(frame: Buffer): Buffer {
  let sum = 0;
  for (const byte of frame.subarray(0, -2)) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : 0x8005)) & 0xffff;
  }
  frame.writeUInt16BE(sum, frame.length - 2);
  return frame;
}

function changed(frame: Buffer | undefined, place: number, byte: number): Buffer {
  const copy = Buffer.from(frame ?? "");
  copy[place] = byte;
  return copy;
}

describe.skipIf(!HAS_FFMPEG)("a FLAC file", () => {
  beforeAll(() => {
    file = encodedFile(wavFile(SOUND, RATE_HZ), "flac");
    const { info, place } = readStreamInfo(file);
    firstPlace = place;
    frames = [...splitFrames(file, place, info)].map(({ bytes }) => Buffer.from(bytes));
  });

  test("is decoded without loss", async () => {
    expect(frames.length).toBeGreaterThan(2);
    expect(await decoded(file)).toEqual([...SOUND]);
  });

  test("with other bytes after its sound is decoded to its end", async () => {
    expect(await decoded(Buffer.concat([file, Buffer.from("TAG of a player of music")]))).toEqual([...SOUND]);
  });

  test("with a damaged frame is broken", async () => {
    const [first = Buffer.alloc(0), second, ...others] = frames;
    const damaged = changed(second, WITHIN_SOUND, 0x55);
    await expect(decoded(fileOf([first, damaged, ...others]))).rejects.toMatchObject({ reason: "broken" });
  });

  test("with invalid sound in a frame with a correct checksum is broken", async () => {
    const complain = vi.spyOn(console, "error").mockReturnValue(); // The decoder prints an error.
    const [first = Buffer.alloc(0), second, ...others] = frames;
    const unknownKind = withSum(changed(second, KIND_PLACE, 0x04));
    await expect(decoded(fileOf([first, unknownKind, ...others]))).rejects.toMatchObject({ reason: "broken" });
    complain.mockRestore();
  });

  test("with a sample size that the decoder does not know is unsupported", async () => {
    const shape = file.readUInt32BE(18);
    const of20Bits = Buffer.from(file);
    of20Bits.writeUInt32BE((shape & ~(31 << 4)) | (19 << 4), 18);
    await expect(decoded(of20Bits)).rejects.toMatchObject({ reason: "unsupported" });
  });

  test("with frames longer than the decoder accepts is unsupported", async () => {
    const ofLongFrames = Buffer.from(file);
    ofLongFrames.writeUInt16BE(65_535, 10);
    ofLongFrames.writeUInt32BE(file.readUInt32BE(18) | (7 << 9), 18);
    await expect(decoded(ofLongFrames)).rejects.toMatchObject({ reason: "unsupported" });
  });
});
