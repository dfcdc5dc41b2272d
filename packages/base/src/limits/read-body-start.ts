import type { Readable } from "node:stream";

/** Reads at most `bytesMax` bytes of a body, as text. The rest is not read. */
export async function readBodyStart(body: Readable, bytesMax: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    if (!Buffer.isBuffer(piece)) continue;
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= bytesMax) break;
  }
  return Buffer.concat(pieces).toString("utf8", 0, bytesMax);
}
