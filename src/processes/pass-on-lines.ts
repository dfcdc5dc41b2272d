import type { Readable } from "node:stream";

const LINE_FEED = 10;
/** Longer lines are copied in pieces. */
const LINE_BYTES_MAX = 4 * 1024 * 1024;

interface Output {
  write(bytes: Uint8Array): unknown;
}

/** Copies text in whole lines, so that several sources can share one output. Resolves at the end of the source. */
export async function passOnLines(source: Readable, output: Output): Promise<void> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const flush = (): void => {
    if (waitingBytes > 0) output.write(Buffer.concat(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  const keep = (bytes: Uint8Array): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
  };
  for await (const bytes of source) {
    if (!(bytes instanceof Uint8Array)) continue;
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    keep(bytes.subarray(0, end));
    if (end > 0) flush();
    keep(bytes.subarray(end));
    if (waitingBytes > LINE_BYTES_MAX) flush();
  }
  if (waitingBytes > 0) keep(Uint8Array.of(LINE_FEED)); // The process died within a line.
  flush();
}
