import { Slices } from "../limits/slices.ts";
import { JsonAssembler } from "./json-assembler.ts";

/** Longer texts, in bytes, should be read in slices: thousands of small values in them take milliseconds. */
export const AT_ONCE_BYTES_MAX = 64 * 1024;
const PIECE_BYTES = 64 * 1024;

/**
 * Reads UTF-8 JSON of limited depth and size, given in chunks, in several turns of the event loop. Returns in a new
 * turn, because work on so much JSON takes long as well. Throws `SyntaxError`.
 */
export async function readJsonInSlices(chunks: Iterable<Buffer>): Promise<unknown> {
  const slices = new Slices();
  const assembler = new JsonAssembler();
  for (const piece of pieces(chunks)) {
    assembler.add(piece);
    await slices.pause();
  }
  const value = assembler.end();
  await slices.next();
  return value;
}

/** The chunks of a text. Never cuts a surrogate pair. */
export function* chunksOfText(text: string): Generator<Buffer> {
  for (let start = 0; start < text.length; ) {
    const end = start + PIECE_BYTES;
    const cut = (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
    yield Buffer.from(text.slice(start, cut));
    start = cut;
  }
}

/** Regroups the chunks into pieces of about `PIECE_BYTES`. */
function* pieces(chunks: Iterable<Buffer>): Generator<Buffer> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      const part = chunk.subarray(start, start + PIECE_BYTES);
      batch.push(part);
      bytes += part.length;
      if (bytes < PIECE_BYTES) continue;
      yield joinChunks(batch);
      [batch, bytes] = [[], 0];
    }
  }
  yield joinChunks(batch);
}

/** The chunks as one. A single chunk is not copied. */
export function joinChunks(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}
