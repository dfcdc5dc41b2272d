import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BadFrame, DATA_BYTES_MAX, encodeFrame, FrameDecoder, HEAD_BYTES_MAX, type SandboxFrame } from "./frames.ts";

const frames = fc.array(
  fc.record({
    head: fc.dictionary(fc.string({ unit: "grapheme" }), fc.oneof(fc.string(), fc.integer(), fc.constant(null)), {
      noNullPrototype: true,
    }),
    data: fc.uint8Array({ maxLength: 40 }),
  }),
  { maxLength: 6 },
);

test("frames come out as they went in, wherever their bytes are cut", () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat({ max: 400 })), (given, places) => {
      const bytes = Buffer.concat(given.map(({ head, data }) => encodeFrame(head, data)));
      expect(decode(cut(bytes, places))).toEqual(given);
    }),
  );
});

test("an unfinished frame gives nothing", () => {
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 8 }), (given, missing) => {
      const bytes = Buffer.concat(
        [...given, { head: {}, data: new Uint8Array() }].map((frame) => encodeFrame(frame.head, frame.data)),
      );
      expect(decode([bytes.subarray(0, bytes.length - missing)])).toEqual(given);
    }),
  );
});

test("bytes that are no frames never do more than end the decoder", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 })), (pieces) => {
      try {
        decode(pieces);
      } catch (error) {
        expect(error).toBeInstanceOf(BadFrame);
      }
    }),
  );
});

test.for([
  ["a long head", lengths(HEAD_BYTES_MAX + 1, 0)],
  ["long data", lengths(2, DATA_BYTES_MAX + 1)],
  ["lengths of four gigabytes", lengths(0xffffffff, 0xffffffff)],
  ["an array as head", Buffer.concat([lengths(2, 0), Buffer.from("[]")])],
  ["a head that is no JSON", Buffer.concat([lengths(2, 0), Buffer.from("{!")])],
  ["no head", lengths(0, 0)],
] as const)("%s is refused as soon as it is seen", ([, bytes]) => {
  expect(() => decode([bytes])).toThrow(BadFrame);
});

test("the largest frame comes through, and a larger one is not made", () => {
  const data = new Uint8Array(DATA_BYTES_MAX).fill(7);
  const head = { text: "x".repeat(HEAD_BYTES_MAX - 11) };
  const [frame] = decode(cut(encodeFrame(head, data), [1, 7, 100_000, 2_000_000]));
  expect(frame?.head).toEqual(head);
  expect(frame?.data.length).toBe(DATA_BYTES_MAX);
  expect(() => encodeFrame({ text: "x".repeat(HEAD_BYTES_MAX) })).toThrow(BadFrame);
  expect(() => encodeFrame({}, new Uint8Array(DATA_BYTES_MAX + 1))).toThrow(BadFrame);
});

function decode(pieces: readonly Uint8Array[]): SandboxFrame[] {
  const decoder = new FrameDecoder();
  return pieces.flatMap((piece) =>
    [...decoder.push(piece)].map(({ head, data }) => ({ head, data: new Uint8Array(data) })),
  );
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places, bytes.length].toSorted((one, other) => one - other);
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
}

function lengths(head: number, data: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(head);
  bytes.writeUInt32BE(data, 4);
  return bytes;
}
