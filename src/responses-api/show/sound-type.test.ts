import { expect, test } from "vitest";
import { soundTypeOf } from "./sound-type.ts";

/** A frame of 64 kb/s at 24 kHz takes 192 bytes. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xf3, 0x84, 0xc4]), Buffer.alloc(188)]);

test.each([
  ["a WAV file", Buffer.from("RIFF\u00ff\u00ff\u00ff\u007fWAVE", "latin1"), "audio/wav"],
  ["an Ogg file", Buffer.from("OggS\0\u0002"), "audio/ogg"],
  ["frames of MPEG audio", Buffer.concat([FRAME, FRAME]), "audio/mpeg"],
  ["one frame of MPEG audio", FRAME, "audio/mpeg"],
  ["MPEG audio behind a tag", Buffer.from("ID3\u0004"), "audio/mpeg"],
  ["silent samples", Buffer.alloc(400), "audio/pcm"],
  ["samples that begin like a frame", Buffer.concat([FRAME, Buffer.alloc(400)]), "audio/pcm"],
  ["a first sample like the start of a frame", Buffer.from([0xff, 0xfb, 0, 0, 1, 0]), "audio/pcm"],
  ["no bytes", Buffer.alloc(0), "audio/pcm"],
])("%s is %s", (_what, start, type) => {
  expect(soundTypeOf(start)).toBe(type);
});
