import { describe, expect, test } from "vitest";
import { pcmBytes, samplesOf } from "./pcm.ts";
import { WAV_HEADER_BYTES, WavError, WavReader, wavHeader } from "./wav.ts";

const SAMPLES = Int16Array.of(0, 1, -1, 32_767, -32_768, 256);

function read(bytes: Uint8Array, pieceLength = bytes.length): { samples: number[]; reader: WavReader } {
  const reader = new WavReader();
  const samples: number[] = [];
  for (let start = 0; start < bytes.length; start += pieceLength)
    samples.push(...reader.push(bytes.subarray(start, start + pieceLength)));
  return { samples, reader };
}

function chunk(tag: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(tag, "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

function format(
  fields: { tag: number; channels: number; rate: number; bits: number },
  extra = Buffer.alloc(0),
): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(fields.tag, 0);
  body.writeUInt16LE(fields.channels, 2);
  body.writeUInt32LE(fields.rate, 4);
  body.writeUInt32LE((fields.rate * fields.channels * fields.bits) / 8, 8);
  body.writeUInt16LE((fields.channels * fields.bits) / 8, 12);
  body.writeUInt16LE(fields.bits, 14);
  return chunk("fmt ", Buffer.concat([body, extra]));
}

function riff(...chunks: readonly Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from("WAVE"), ...chunks]);
  return chunk("RIFF", body);
}

const MONO = { tag: 1, channels: 1, rate: 22_050, bits: 16 };

describe("a WAV header", () => {
  test("describes the sound, byte for byte", () => {
    expect(Buffer.from(wavHeader(24_000, 12)).toString("hex")).toBe(
      "52494646" +
        "30000000" +
        "57415645" +
        "666d7420" +
        "10000000" +
        "0100" +
        "0100" +
        "c05d0000" +
        "80bb0000" +
        "0200" +
        "1000" +
        "64617461" +
        "0c000000",
    );
  });

  test("marks an unknown length", () => {
    const header = Buffer.from(wavHeader(8000, null));
    expect(header).toHaveLength(WAV_HEADER_BYTES);
    expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([0xffff_ffff, 0xffff_ffff]);
  });
});

describe("reading WAV", () => {
  test.each([1, 2, 3, 7, 44, 1000])("gives the written samples, in pieces of %i bytes", (pieceLength) => {
    for (const length of [SAMPLES.length * 2, null]) {
      const { samples, reader } = read(Buffer.concat([wavHeader(22_050, length), pcmBytes(SAMPLES)]), pieceLength);
      expect(samples).toEqual([...SAMPLES]);
      expect(reader.format).toEqual({ sampleRateHz: 22_050, channels: 1, encoding: "int16" });
    }
  });

  test("skips chunks before and after the sound", () => {
    const bytes = riff(
      chunk("LIST", Buffer.from("odd")),
      format(MONO),
      chunk("data", Buffer.from(pcmBytes(SAMPLES))),
      chunk("LIST", Buffer.from("more")),
    );
    expect(read(bytes, 5).samples).toEqual([...SAMPLES]);
  });

  test("mixes two channels into one", () => {
    const stereo = Buffer.from(pcmBytes(Int16Array.of(100, 200, -100, 100, 32_767, 32_767)));
    expect(read(riff(format({ ...MONO, channels: 2 }), chunk("data", stereo))).samples).toEqual([150, 0, 32_767]);
  });

  test("reads floats and the extensible format", () => {
    const floats = Buffer.alloc(12);
    for (const [index, value] of [0.5, -1, 2].entries()) floats.writeFloatLE(value, index * 4);
    expect(read(riff(format({ ...MONO, tag: 3, bits: 32 }), chunk("data", floats))).samples).toEqual([
      16_384, -32_767, 32_767,
    ]);
    const extensible = Buffer.alloc(24);
    extensible.writeUInt16LE(1, 8);
    const spelled = riff(format({ ...MONO, tag: 0xfffe }, extensible), chunk("data", Buffer.from(pcmBytes(SAMPLES))));
    expect(read(spelled).samples).toEqual([...SAMPLES]);
  });

  test.each([
    { bits: 8, hex: "00 80 ff", samples: [-32_768, 0, 32_512] },
    { bits: 24, hex: "000080 000000 ffff7f", samples: [-32_768, 0, 32_767] },
    { bits: 32, hex: "00000080 00000000 ffffff7f", samples: [-32_768, 0, 32_767] },
  ])("reads samples of $bits bits", ({ bits, hex, samples }) => {
    const sound = Buffer.from(hex.replaceAll(" ", ""), "hex");
    expect(read(riff(format({ ...MONO, bits }), chunk("data", sound)), 5).samples).toEqual(samples);
  });

  test("reports how much of the sound is missing", () => {
    const bytes = Buffer.concat([wavHeader(16_000, 12), pcmBytes(SAMPLES)]);
    expect(read(bytes).reader.missingBytes).toBe(0);
    expect(read(bytes.subarray(0, -5)).reader.missingBytes).toBe(5);
    expect(read(Buffer.concat([wavHeader(16_000, null), pcmBytes(SAMPLES)])).reader.missingBytes).toBe(0);
  });

  test.each([
    ["something else", Buffer.from("OggS and so on, certainly no WAV")],
    ["20 bits", riff(format({ ...MONO, bits: 20 }), chunk("data", Buffer.alloc(6)))],
    ["no channels", riff(format({ ...MONO, channels: 0 }), chunk("data", Buffer.alloc(6)))],
    ["sound without a format", riff(chunk("data", Buffer.alloc(6)))],
    ["a header without an end", Buffer.concat([riff(chunk("LIST", Buffer.alloc(100_000)))])],
  ])("refuses %s", (_title, bytes) => {
    expect(() => read(bytes, 4096)).toThrow(WavError);
  });
});

test("samples written as bytes are read back unchanged", () => {
  expect(samplesOf(pcmBytes(SAMPLES))).toEqual(SAMPLES);
  expect([...pcmBytes(Int16Array.of(1, -2))]).toEqual([1, 0, 254, 255]);
});
