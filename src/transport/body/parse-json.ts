import type { Faults } from "../faults.ts";

/** Deeper values would overflow the stack of the validators and of everything else that recurses. */
export const JSON_DEPTH_MAX = 512;

/** Members and elements of one text. A small text of many tiny values would else become a huge heap. */
export const JSON_VALUES_MAX = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses UTF-8 JSON of bounded depth and size. */
export function parseJson(bytes: Buffer, faults: Pick<Faults, "invalidJson">): unknown {
  if (bytes.length > JSON_DEPTH_MAX && !isModest(bytes)) throw faults.invalidJson();
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw faults.invalidJson();
  }
}

/** Scans before parsing: to parse a text that is nothing but brackets takes a hundred times its size. */
function isModest(bytes: Buffer): boolean {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at);
        break;
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

/** Where the string that opens at `at` closes, or the end of the text. */
function endOfString(bytes: Buffer, at: number): number {
  for (let quote = bytes.indexOf(QUOTE, at + 1); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let backslashes = 0;
    while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return bytes.length;
}
