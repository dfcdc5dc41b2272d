/**
 * The protocol between a server and a sandbox, in both directions: the length of a head and the length of data, each as
 * four bytes, big-endian, then the head as a JSON object in UTF-8, then the data.
 */

import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

export const HEAD_BYTES_MAX = 2 * 1024 * 1024;
export const DATA_BYTES_MAX = 256 * 1024;

const LENGTH_BYTES = 4;
const LENGTHS_BYTES = 2 * LENGTH_BYTES;
/** More pieces of an unfinished frame are joined, because each needs memory. */
const PIECES_MAX = 1024;
const NOTHING = new Uint8Array();

export interface SandboxFrame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly data: Uint8Array;
}

/** The other side has broken the protocol, or was sent more than a frame can contain. */
export class BadFrame extends Error {
  override readonly name = "BadFrame";
}

/** Throws `BadFrame` if the head or the data is too long. */
export function encodeFrame(head: SandboxFrame["head"], data: Uint8Array = NOTHING): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  checkLengths(text.length, data.length);
  const lengths = Buffer.alloc(LENGTHS_BYTES);
  lengths.writeUInt32BE(text.length);
  lengths.writeUInt32BE(data.length, LENGTH_BYTES);
  return Buffer.concat([lengths, text, data]);
}

/** Finds frames in bytes that arrive in arbitrary pieces. Buffers at most one unfinished frame. */
export class FrameDecoder {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** The length of the frame at the beginning of the pieces; null until it has arrived. */
  #frameBytes: number | null = null;

  /** Yields the frames that these bytes complete. Throws `BadFrame`, after which the decoder must not be used. */
  *push(bytes: Uint8Array): Generator<SandboxFrame> {
    if (bytes.length === 0) return;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#pieces.length > PIECES_MAX) this.#join();
    for (;;) {
      this.#frameBytes ??= this.#readLengths();
      if (this.#frameBytes === null || this.#bytes < this.#frameBytes) return;
      const frame = this.#join().subarray(0, this.#frameBytes);
      this.#drop(this.#frameBytes);
      yield readFrame(frame);
    }
  }

  #readLengths(): number | null {
    if (this.#bytes < LENGTHS_BYTES) return null;
    const first = this.#join();
    const headBytes = first.readUInt32BE(0);
    const dataBytes = first.readUInt32BE(LENGTH_BYTES);
    checkLengths(headBytes, dataBytes);
    return LENGTHS_BYTES + headBytes + dataBytes;
  }

  #join(): Buffer {
    const buffer = Buffer.concat(this.#pieces);
    this.#pieces = [buffer];
    return buffer;
  }

  #drop(bytes: number): void {
    const rest = this.#join().subarray(bytes);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#frameBytes = null;
  }
}

function checkLengths(headBytes: number, dataBytes: number): void {
  if (headBytes > HEAD_BYTES_MAX) throw new BadFrame(`a head of ${headBytes} bytes`);
  if (dataBytes > DATA_BYTES_MAX) throw new BadFrame(`data of ${dataBytes} bytes`);
}

function readFrame(frame: Buffer): SandboxFrame {
  const dataStart = LENGTHS_BYTES + frame.readUInt32BE(0);
  return { head: readHead(frame.subarray(LENGTHS_BYTES, dataStart)), data: frame.subarray(dataStart) };
}

function readHead(bytes: Buffer): SandboxFrame["head"] {
  let head: unknown;
  try {
    head = readJson(bytes.toString("utf8"));
  } catch (error) {
    throw new BadFrame("a head that is no JSON", { cause: error });
  }
  if (!isRecord(head)) throw new BadFrame("a head that is no JSON object");
  return head;
}
