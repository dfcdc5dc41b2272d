import { assert } from "../../base/assert.ts";
import { readOwnJson } from "../../base/json/read-json.ts";
import { chunksOfText, readJsonInSlices } from "../../base/json/read-json-in-slices.ts";

/**
 * Parses a JSON column without checking its type. Only this folder writes these columns, each from values of one type
 * that were validated or made by us, and checking every row would cost more than reading it. Throws `SyntaxError` if
 * the row is damaged.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its column.
export function storedJson<Stored>(json: string): Stored {
  return readOwnJson<Stored>(json);
}

/** Longer texts, in characters, are parsed in slices. */
const AT_ONCE_CHARACTERS_MAX = 256 * 1024;

/** The same. A long text is parsed in several turns of the event loop. */
export async function storedJsonInSlices<Stored>(json: string): Promise<Stored> {
  if (json.length <= AT_ONCE_CHARACTERS_MAX) return storedJson(json);
  // What is stored has more members than what was sent, so its limits are not those of a request.
  const value = await readJsonInSlices(chunksOfText(json)).catch(() => storedJson<unknown>(json));
  assert(isOfColumn<Stored>(value), "a column of JSON holds a value");
  return value;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- As above.
function isOfColumn<Stored>(value: unknown): value is Stored {
  return value !== undefined;
}
