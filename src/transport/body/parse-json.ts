import { readJson } from "../../base/json/read-json.ts";
import { Slices } from "../../base/limits/slices.ts";
import type { Faults } from "../faults.ts";
import { endOfString, JSON_DEPTH_MAX, JSON_VALUES_MAX, JsonAssembler } from "./json-assembler.ts";

/** Longer texts, in bytes, are parsed piece by piece; other requests are served between the pieces. */
export const AT_ONCE_BYTES_MAX = 512 * 1024;
const PIECE_BYTES = 256 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const utf8 = new TextDecoder("utf-8", { fatal: true });

type JsonFaults = Pick<Faults, "invalidJson">;

/**
 * Parses UTF-8 JSON of limited depth and size, given in chunks. Large texts take several turns of the event loop, and
 * the result is then a promise. Throws `faults.invalidJson()`.
 */
export function parseJsonChunks(chunks: readonly Buffer[], faults: JsonFaults): unknown {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  return bytes <= AT_ONCE_BYTES_MAX ? parseJsonAtOnce(joined(chunks), faults) : parseInSlices(chunks, faults);
}

async function parseInSlices(chunks: readonly Buffer[], faults: JsonFaults): Promise<unknown> {
  const slices = new Slices();
  const assembler = new JsonAssembler();
  try {
    for (const piece of pieces(chunks)) {
      assembler.add(piece);
      if (slices.isOver) await slices.next();
    }
    return assembler.end();
  } catch {
    throw faults.invalidJson();
  }
}

/** The same for a small text, synchronously. */
export function parseJsonAtOnce(bytes: Buffer, faults: JsonFaults): unknown {
  if (bytes.length > JSON_DEPTH_MAX && !isWithinLimits(bytes)) throw faults.invalidJson();
  try {
    return readJson(utf8.decode(bytes));
  } catch {
    throw faults.invalidJson();
  }
}

/** Regroups the chunks into pieces of about `PIECE_BYTES`. */
function* pieces(chunks: readonly Buffer[]): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      const part = chunk.subarray(start, start + PIECE_BYTES);
      gathered.push(part);
      bytes += part.length;
      if (bytes < PIECE_BYTES) continue;
      yield joined(gathered);
      [gathered, bytes] = [[], 0];
    }
  }
  yield joined(gathered);
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

/** Scans before parsing, because parsing a text of nothing but brackets takes 100 times its size in memory. */
function isWithinLimits(bytes: Buffer): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = endOfString(bytes, at + 1);
        at = end === -1 ? bytes.length : end;
        break;
      }
      case COMMA:
        values++;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values++;
        if (++depth > JSON_DEPTH_MAX) return false;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--;
        break;
      default:
    }
  }
  return values <= JSON_VALUES_MAX;
}
