import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Slices } from "@antiphon/base/limits/slices.ts";

/** The available byte-pair encodings. */
export type Encoding = "o200k_base" | "cl100k_base";

const SPACE = 0x20;
const LINE_END = 0x0a;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");

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
    const space = list.indexOf(SPACE, start);
    const end = list.indexOf(LINE_END, space);
    const token = tokenOf(Buffer.from(list.toString("latin1", start, space), "base64"));
    tokens[Number(list.toString("latin1", space + 1, end))] = token;
    if (typeof token === "string") texts.add(token);
    start = end + 1;
    if (slices.isOver) await slices.next();
  }
  return tokens;
}

function tokenOf(bytes: Buffer): string | readonly number[] {
  const isText = isUtf8(bytes) && !bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return isText ? bytes.toString() : [...bytes];
}
