import type { IncomingMessage } from "node:http";
import type { Faults } from "../faults.ts";
import { bodyChunks } from "./body-chunks.ts";
import { parseJsonChunks } from "./parse-json.ts";

export interface LineLimits {
  readonly lineBytesMax: number;
  readonly idleTimeoutMs: number;
}

type LineFaults = Pick<Faults, "bodyTooLarge" | "bodyTimedOut" | "invalidJson">;

const LINE_FEED = 0x0a;

/**
 * The values of an NDJSON body, each as soon as its line is complete. Blank lines are skipped; a last line without a
 * line end counts.
 */
export async function* readLines(request: IncomingMessage, limits: LineLimits, faults: LineFaults): AsyncGenerator {
  let lineStart: Buffer[] = []; // Pieces of the unfinished line.
  let begunBytes = 0;
  for await (const chunk of bodyChunks(
    request,
    { ...limits, bytesPerSecondMin: 0, totalTimeoutMs: null },
    faults.bodyTimedOut,
  )) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      if (begunBytes + end - start > limits.lineBytesMax) throw faults.bodyTooLarge(limits.lineBytesMax);
      const line = [...lineStart, chunk.subarray(start, end)];
      lineStart = [];
      begunBytes = 0;
      start = end + 1;
      if (!line.every(isBlankPiece)) yield await parseJsonChunks(line, faults);
    }
    lineStart.push(chunk.subarray(start));
    begunBytes += chunk.length - start;
    if (begunBytes > limits.lineBytesMax) throw faults.bodyTooLarge(limits.lineBytesMax);
  }
  if (!lineStart.every(isBlankPiece)) yield await parseJsonChunks(lineStart, faults);
}

function isBlankPiece(piece: Buffer): boolean {
  return piece.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
