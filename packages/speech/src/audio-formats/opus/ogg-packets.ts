import { AudioError } from "../audio-error.ts";
import { isOpusHead } from "./opus-head.ts";

const HEAD_BYTES = 27;
const CONTINUED = 0x01;
const FIRST = 0x02;
const LACING_MAX = 255;
const CRC32_POLYNOMIAL = 0x04c1_1db7;
/** Larger than any audio packet. */
const PACKET_BYTES_MAX = 1024 * 1024;

interface Page {
  readonly flags: number;
  readonly serial: number;
  readonly lacing: Uint8Array;
  readonly body: Uint8Array;
  readonly end: number;
}

/**
 * Yields the packets of the Opus stream in an Ogg file and of Opus streams chained to it; skips other streams. Throws
 * `AudioError` if a page is damaged or cut off, and with reason `unsupported` if no stream is Opus.
 */
export function* oggPackets(bytes: Uint8Array): Generator<Uint8Array> {
  let serial: number | null = null;
  let packetParts: Uint8Array[] = [];
  for (let place = 0; place < bytes.length; ) {
    const page = readPage(bytes, place);
    place = page.end;
    if ((page.flags & FIRST) !== 0 && isOpusHead(page.body)) {
      serial = page.serial;
      packetParts = [];
    }
    if (page.serial !== serial) continue;
    if ((page.flags & CONTINUED) === 0) packetParts = [];
    let start = 0;
    for (const length of page.lacing) {
      packetParts.push(page.body.subarray(start, start + length));
      start += length;
      if (length === LACING_MAX) continue;
      yield wholePacket(packetParts);
      packetParts = [];
    }
  }
  if (serial === null) throw new AudioError("unsupported", "Unsupported format: Ogg whose sound is not Opus");
}

function readPage(bytes: Uint8Array, place: number): Page {
  const view = new DataView(bytes.buffer, bytes.byteOffset + place, bytes.byteLength - place);
  if (view.byteLength < HEAD_BYTES) throw cutOff();
  if (view.getUint32(0) !== 0x4f67_6753 || view.getUint8(4) !== 0) throw brokenOgg();
  const segments = view.getUint8(26);
  if (view.byteLength < HEAD_BYTES + segments) throw cutOff();
  const lacing = bytes.subarray(place + HEAD_BYTES, place + HEAD_BYTES + segments);
  const bodyBytes = lacing.reduce((sum, length) => sum + length, 0);
  const bodyPlace = place + HEAD_BYTES + segments;
  const end = bodyPlace + bodyBytes;
  if (end > bytes.length) throw cutOff();
  if (checksum(bytes.subarray(place, end)) !== view.getUint32(22, true)) throw brokenOgg();
  return {
    flags: view.getUint8(5),
    serial: view.getUint32(14, true),
    lacing,
    body: bytes.subarray(bodyPlace, end),
    end,
  };
}

const CRC32_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum << 1) ^ (sum < 0 ? CRC32_POLYNOMIAL : 0);
  return sum;
});

/** The CRC-32 of a page, with its own checksum field read as 0. */
function checksum(page: Uint8Array): number {
  let sum = 0;
  for (let place = 0; place < page.length; place += 1) {
    const byte = place >= 22 && place < 26 ? 0 : (page[place] ?? 0);
    sum = (sum << 8) ^ (CRC32_TABLE[((sum >>> 24) ^ byte) & 0xff] ?? 0);
  }
  return sum >>> 0;
}

function wholePacket(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  if (pieces.reduce((sum, { length }) => sum + length, 0) > PACKET_BYTES_MAX) throw brokenOgg();
  return Buffer.concat(pieces);
}

function cutOff(): AudioError {
  return new AudioError("broken", "The Ogg file is cut off");
}

function brokenOgg(): AudioError {
  return new AudioError("broken", "The Ogg file is damaged");
}
