import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Slices } from "@antiphon/base/limits/slices.ts";

/** The available byte-pair encodings. */
export type Encoding = "o200k_base" | "cl100k_base";

const SPACE = 0x20;
const LINE_END = 0x0a;
const PADDING = 0x3d;
const ZERO = 0x30;
/** Of a character of base 64. */
const BITS = 6;
/** Those of two characters, the most that wait for the rest of a byte. */
const BITS_MASK = 0xfff;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
/** The maximum bytes of the list that are decoded at once: some milliseconds of work. */
const PORTION_BYTES = 128 * 1024;

/** The value of each character of base 64. */
const SIXTY_FOUR = new Uint8Array(128);
const CHARACTERS = Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
for (const [value, code] of CHARACTERS.entries()) SIXTY_FOUR[code] = value;

/**
 * Reads the tokens of an encoding, by rank. A token is a text, or a list of bytes if it is not valid UTF-8.
 * `gpt-tokenizer` also has the tokens as a module, but importing it blocks the event loop for over 100 ms.
 */
export async function readVocabulary(encoding: Encoding): Promise<readonly (string | readonly number[])[]> {
  const list = await readFile(fileURLToPath(import.meta.resolve(`gpt-tokenizer/data/${encoding}.tiktoken`)));
  const slices = new Slices();
  const tokens: (string | readonly number[])[] = [];
  // Adding a text to a set caches its hash. That shortens the longest step, in which the library puts all texts in a
  // map.
  const texts = new Set<string>();
  for (let start = 0; start < list.length; ) {
    const end = list.indexOf(LINE_END, Math.min(list.length - 1, start + PORTION_BYTES)) + 1 || list.length;
    for (const { rank, token } of tokensIn(list.subarray(start, end))) {
      tokens[rank] = token;
      if (typeof token === "string") texts.add(token);
    }
    start = end;
    if (slices.isOver) await slices.next();
  }
  return tokens;
}

interface RankedToken {
  readonly rank: number;
  readonly token: string | readonly number[];
}

/** The tokens of whole lines: a token in base 64, a blank, and its rank. */
function tokensIn(lines: Buffer): readonly RankedToken[] {
  const bytes = Buffer.alloc(lines.length);
  const places: { readonly rank: number; readonly start: number; readonly end: number; readonly isAscii: boolean }[] =
    [];
  for (let at = 0, start = 0; at < lines.length; at++) {
    let end = start;
    let bits = 0;
    let count = 0;
    let all = 0;
    for (let code = lines[at]; code !== undefined && code !== SPACE; code = lines[(at += 1)]) {
      if (code === PADDING) continue;
      bits = ((bits << BITS) | (SIXTY_FOUR[code] ?? 0)) & BITS_MASK;
      count += BITS;
      if (count < 8) continue;
      count -= 8;
      all |= bytes[end++] = (bits >> count) & 0xff;
    }
    let rank = 0;
    for (let code = lines[(at += 1)]; code !== undefined && code !== LINE_END; code = lines[(at += 1)])
      rank = rank * 10 + code - ZERO;
    places.push({ rank, start, end, isAscii: all < 0x80 });
    start = end;
  }
  const ascii = bytes.toString("latin1"); // Cutting one text takes less time than making many from bytes.
  return places.map(({ rank, start, end, isAscii }) => ({
    rank,
    token: isAscii ? ascii.slice(start, end) : tokenOf(bytes.subarray(start, end)),
  }));
}

function tokenOf(bytes: Buffer): string | readonly number[] {
  const isText = isUtf8(bytes) && !bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return isText ? bytes.toString() : [...bytes];
}
