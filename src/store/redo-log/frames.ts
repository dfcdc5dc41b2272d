import { crc32 } from "node:zlib";

/** A frame is the length of its payload, the CRC-32 of the payload, and the payload: a change as JSON in UTF-8. */
const HEADER_BYTES = 8;
const CRC_OFFSET = 4;
/** No payload is longer, in bytes: a longer length is damage. */
const PAYLOAD_BYTES_MAX = 1024 * 1024;
/** The maximum bytes that one UTF-16 code unit takes in UTF-8. */
const BYTES_PER_UNIT = 3;

/** Texts with more characters may not fit into a frame. */
export const FRAME_CHARACTERS_MAX = PAYLOAD_BYTES_MAX / BYTES_PER_UNIT;

/** Writes one frame at the start of `scratch`, or into a new buffer if it may not fit. Returns its bytes. */
export function redoFrameOf(text: string, scratch: Buffer): Buffer {
  const bytesMax = HEADER_BYTES + text.length * BYTES_PER_UNIT;
  const target = bytesMax <= scratch.length ? scratch : Buffer.allocUnsafe(bytesMax);
  const length = target.write(text, HEADER_BYTES, "utf8");
  target.writeUInt32LE(length, 0);
  target.writeUInt32LE(crc32(target.subarray(HEADER_BYTES, HEADER_BYTES + length)), CRC_OFFSET);
  return target.subarray(0, HEADER_BYTES + length);
}

/** A change, and the offset at which its frame ends. */
export interface ReadFrame {
  readonly text: string;
  readonly end: number;
}

/**
 * The whole frames from the start of these bytes to the first that is torn or damaged. A process that dies while it
 * writes leaves a torn frame, whose change nobody has seen.
 */
export function readFrames(bytes: Buffer): readonly ReadFrame[] {
  const frames: ReadFrame[] = [];
  for (let start = 0; start + HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32LE(start);
    const end = start + HEADER_BYTES + length;
    if (length === 0 || length > PAYLOAD_BYTES_MAX || end > bytes.length) break;
    const payload = bytes.subarray(start + HEADER_BYTES, end);
    if (crc32(payload) !== bytes.readUInt32LE(start + CRC_OFFSET)) break;
    frames.push({ text: payload.toString("utf8"), end });
    start = end;
  }
  return frames;
}
