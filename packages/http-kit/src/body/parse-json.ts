import { JSON_DEPTH_MAX, JsonAssembler } from "@antiphon/base/json/json-assembler.ts";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { AT_ONCE_BYTES_MAX, joinChunks, readJsonInSlices } from "@antiphon/base/json/read-json-in-slices.ts";
import type { Faults } from "../faults.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

type JsonFaults = Pick<Faults, "invalidJson">;

/**
 * Parses UTF-8 JSON of limited depth and size, given in chunks. Large texts take several turns of the event loop, and
 * the result is then a promise. Throws `faults.invalidJson()`.
 */
export function parseJsonChunks(chunks: readonly Buffer[], faults: JsonFaults): unknown {
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= AT_ONCE_BYTES_MAX) return parseJsonAtOnce(joinChunks(chunks), faults);
  return readJsonInSlices(chunks).catch(() => {
    throw faults.invalidJson();
  });
}

/**
 * The same for a small text, synchronously. The assembler checks the limits before parsing, because parsing a text of
 * only brackets takes 100 times its size in memory. No text of `JSON_DEPTH_MAX` bytes exceeds them.
 */
function parseJsonAtOnce(bytes: Buffer, faults: JsonFaults): unknown {
  try {
    if (bytes.length <= JSON_DEPTH_MAX) return readJson(utf8.decode(bytes));
    const assembler = new JsonAssembler();
    assembler.add(bytes);
    return assembler.end();
  } catch {
    throw faults.invalidJson();
  }
}
