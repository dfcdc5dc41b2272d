import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert } from "@antiphon/base/assert.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: unknown = runInNewContext("gc");

/** Bytes of memory in use after garbage collection: the heap and its external buffers. */
export function heapBytes(): number {
  assert(typeof collectGarbage === "function", "the flag for it was set");
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
