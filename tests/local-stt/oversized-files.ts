import { withOggSums } from "./mutated-files.ts";

/** Small files that contain or declare too much, by name. Each is refused. */
export function oversizedFiles(wav: Buffer, m4a: Buffer): Readonly<Record<string, Buffer>> {
  return {
    "flac of hours in a few bytes": constantFlac(3000),
    "ogg of hours in a few bytes": silentOpus(300),
    "ogg of empty packets": emptyPackets(2000),
    "wav that claims two gigabytes": withNumberAt(wav, wav.indexOf("data") + 4, 0x7ffe_fff0),
    "wav of very slow samples": slowWav(10_000_000),
    "wav of a hundred channels": patched(wav, 22, Buffer.from([100, 0])),
    "wav whose format never ends": withNumberAt(wav, 16, 0xffff_fff0),
    "webm of a million tracks": repeated(WEBM_START, Buffer.from([0xae, 0x80]), 1_000_000),
    "webm of segments in segments": repeated(WEBM_START, WEBM_SEGMENT, 150_000),
    "webm of a block larger than all": Buffer.concat([
      WEBM_START,
      WEBM_SEGMENT,
      Buffer.from("a308ffffffffffff", "hex"),
    ]),
    "mp3 behind an endless tag": Buffer.concat([
      Buffer.from("ID3\x04\0\0\x7f\x7f\x7f\x7f", "latin1"),
      Buffer.alloc(5000),
    ]),
    "m4a of two thousand million samples": withNumberAt(m4a, m4a.indexOf("stsz") + 12, 0x7fff_ffff, "BE"),
  };
}

const WEBM_START = Buffer.from(
  "1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701ffffffffffffff",
  "hex",
);
/** Of unknown size. */
const WEBM_SEGMENT = Buffer.from("1853806701ffffffffffffff", "hex");

function repeated(start: Buffer, piece: Buffer, times: number): Buffer {
  return Buffer.concat([start, ...Array.from({ length: times }, () => piece)]);
}

function patched(bytes: Buffer, place: number, patch: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, place), patch, bytes.subarray(place + patch.length)]);
}

function withNumberAt(bytes: Buffer, place: number, number: number, order: "LE" | "BE" = "LE"): Buffer {
  const patch = Buffer.alloc(4);
  if (order === "LE") patch.writeUInt32LE(number);
  else patch.writeUInt32BE(number);
  return patched(bytes, place, patch);
}

/** Samples of 8 bits, a thousand per second. */
function slowWav(samples: number): Buffer {
  const header = Buffer.from(
    "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\xe8\x03\0\0\xe8\x03\0\0\x01\0\x08\0data",
    "latin1",
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(samples);
  return Buffer.concat([header, length, Buffer.alloc(samples, 128)]);
}

/** Frames of 65,535 samples in 14 bytes each, at 16,000 samples per second: four seconds each. */
function constantFlac(frames: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(65_535, 0);
  info.writeUInt16BE(65_535, 2);
  info.writeUInt32BE((16_000 << 12) | (15 << 4), 10); // The rate, one channel, 16 bits.
  // Then its length in 16 bits, number 0, and its checksum.
  const head = Buffer.from([0xff, 0xf8, 0x70, 0x08, 0x00, 0xff, 0xfe, 0x39]);
  const body = Buffer.concat([head, Buffer.from([0x00, 0x00, 0x00])]); // A constant: nothing.
  const sum = Buffer.alloc(2);
  sum.writeUInt16BE(crc16(body));
  return repeated(Buffer.concat([Buffer.from("fLaC\x80\0\0\x22", "latin1"), info]), Buffer.concat([body, sum]), frames);
}

function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) sum = ((sum << 1) ^ ((sum & 0x8000) === 0 ? 0 : 0x8005)) & 0xffff;
  }
  return sum;
}

const OPUS_HEAD = Buffer.from("OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0", "latin1");

/** Packets of two bytes with 120 ms of silence each: half a minute per page. */
export function silentOpus(pages: number): Buffer {
  const packets = Array.from({ length: 255 }, () => Buffer.from([0x1b, 0x02]));
  return ogg(
    [OPUS_HEAD],
    [Buffer.from("OpusTags\0\0\0\0\0\0\0\0", "latin1")],
    ...Array.from({ length: pages }, () => packets),
  );
}

function emptyPackets(pages: number): Buffer {
  const packets = Array.from({ length: 255 }, () => Buffer.alloc(0));
  return ogg(
    [OPUS_HEAD],
    [Buffer.from("OpusTags\0\0\0\0\0\0\0\0", "latin1")],
    ...Array.from({ length: pages }, () => packets),
  );
}

function ogg(...pages: readonly (readonly Buffer[])[]): Buffer {
  const all = pages.map((packets, index) => {
    const head = Buffer.alloc(27);
    head.write("OggS", 0, "latin1");
    head[5] = index === 0 ? 2 : 0;
    head.writeUInt32LE(7, 14);
    head.writeUInt32LE(index, 18);
    head[26] = packets.length;
    return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
  });
  return withOggSums(Buffer.concat(all));
}
