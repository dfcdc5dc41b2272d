import { randomBytes } from "node:crypto";
import { obfuscatedEventTypes } from "../../../generated/responses-api/events.ts";
import type { ResponseStreamEvent } from "../../../generated/responses-api/types.ts";
import { jsonOf, rememberJson } from "../../base/json/json-text.ts";

/** Deltas are padded to a multiple of this many characters, so that their sizes tell an eavesdropper less. */
const PADDED_TO_CHARACTERS = 16;

const obfuscated: ReadonlySet<string> = new Set(obfuscatedEventTypes);

/** The event with the padding the reference gives its deltas; events without deltas as they are. */
export function obfuscate(event: ResponseStreamEvent): ResponseStreamEvent {
  if (!("delta" in event) || typeof event.delta !== "string" || !obfuscated.has(event.type)) return event;
  const padding = filler(paddingLength(event.delta));
  return rememberJson({ ...event, obfuscation: padding }, `${jsonOf(event).slice(0, -1)},"obfuscation":"${padding}"}`);
}

/** (16 − length mod 16) mod 16, the length in characters. */
function paddingLength(delta: string): number {
  return (PADDED_TO_CHARACTERS - (characters(delta) % PADDED_TO_CHARACTERS)) % PADDED_TO_CHARACTERS;
}

function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count -= 1; // The first half of a pair: one character with the next.
  }
  return count;
}

/** Random text to cut padding from, renewed when it is used up. */
const POOL_BYTES = 12 * 1024;
let pool = "";
let used = 0;

function filler(length: number): string {
  if (used + length > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("base64url").replaceAll(/[-_]/g, "x");
    used = 0;
  }
  used += length;
  return pool.slice(used - length, used);
}
