import { assert } from "@antiphon/base/assert.ts";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { chunksOfText, readJsonInSlices } from "@antiphon/base/json/read-json-in-slices.ts";

/**
 * Parses a JSON column without checking its type. Only this folder writes these columns, each from validated or own
 * values of one type, and checking every row would cost more than reading it. Throws `SyntaxError` if the row is
 * damaged.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its column.
export function storedJson<Stored>(json: string): Stored {
  return readOwnJson<Stored>(json);
}

/** Texts with more characters are parsed in slices. */
const AT_ONCE_CHARACTERS_MAX = 256 * 1024;

/** The same, but parses a long text over several turns of the event loop. */
export async function storedJsonInSlices<Stored>(json: string): Promise<Stored> {
  if (json.length <= AT_ONCE_CHARACTERS_MAX) return storedJson(json);
  // Stored JSON has more members than requests, so the limits of requests do not apply.
  const value = await readJsonInSlices(chunksOfText(json)).catch(() => storedJson<unknown>(json));
  assert(isOfColumn<Stored>(value), "a column of JSON holds a value");
  return value;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- As above.
function isOfColumn<Stored>(value: unknown): value is Stored {
  return value !== undefined;
}
