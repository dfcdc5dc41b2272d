import { readSync, writeSync } from "node:fs";

/** As in `harness/frames.ts`, which this side cannot import: it may read only its own folder. */
const LENGTH_BYTES = 4;
const HEAD_BYTES_MAX = 2 * 1024 * 1024;
export const PIECE_BYTES_MAX = 256 * 1024;

const INPUT = 0;
const OUTPUT = 1;
/** The pause when the other side is slow and the pipe itself does not block. */
const RETRY_MS = 2;

// Captured before foreign code runs, so that changes to Node's or JavaScript's objects do not affect them.
const read = readSync;
const write = writeSync;
const fromText = new TextEncoder();
const fromBytes = new TextDecoder();
const sleeping = new Int32Array(new SharedArrayBuffer(LENGTH_BYTES));
const { parse, stringify } = JSON;
const { wait } = Atomics;

export interface PipeFrame {
  readonly head: Readonly<Record<string, unknown>>;
  readonly data: Uint8Array;
}

/** Waits for the next frame. Null if the other side has closed the pipe. */
export function receiveFrame(): PipeFrame | null {
  const lengths = readExactly(2 * LENGTH_BYTES);
  if (lengths === null) return null;
  const view = new DataView(lengths.buffer);
  const headBytes = view.getUint32(0);
  const dataBytes = view.getUint32(LENGTH_BYTES);
  if (headBytes > HEAD_BYTES_MAX || dataBytes > PIECE_BYTES_MAX) throw new Error("A frame is too long.");
  const head = readExactly(headBytes);
  const data = readExactly(dataBytes);
  return head === null || data === null ? null : { head: parse(fromBytes.decode(head)), data };
}

/** Writes a frame; waits until the other side has room. */
export function sendFrame(head: PipeFrame["head"], data: Uint8Array = new Uint8Array()): void {
  const text = fromText.encode(stringify(head));
  const lengths = new Uint8Array(2 * LENGTH_BYTES);
  const view = new DataView(lengths.buffer);
  view.setUint32(0, text.length);
  view.setUint32(LENGTH_BYTES, data.length);
  for (const bytes of [lengths, text, data]) writeAll(bytes);
}

function readExactly(length: number): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(length);
  for (let offset = 0; offset < length; ) {
    const count = retry(() => read(INPUT, bytes, offset, length - offset, null));
    if (count === 0) return null;
    offset += count;
  }
  return bytes;
}

function writeAll(bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; )
    offset += retry(() => write(OUTPUT, bytes, offset, bytes.length - offset));
}

function retry(step: () => number): number {
  for (;;) {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
      wait(sleeping, 0, 0, RETRY_MS);
    }
  }
}
