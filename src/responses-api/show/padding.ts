import { randomBytes } from "node:crypto";

/** Deltas are padded to a multiple of this many characters, so that their sizes reveal less to an eavesdropper. */
const PADDED_TO_CHARACTERS = 16;

/** The reference's padding of a delta: (16 − length mod 16) mod 16 characters, the length in characters. */
export function paddingOf(delta: string): string {
  return filler((PADDED_TO_CHARACTERS - (characters(delta) % PADDED_TO_CHARACTERS)) % PADDED_TO_CHARACTERS);
}

function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count -= 1; // A surrogate pair is one character.
  }
  return count;
}

/** The size of a pool of random text for padding. The pool is renewed when it is used up. */
const POOL_BYTES = 12 * 1024;
let pool = "";
let used = 0;

function filler(length: number): string {
  if (used + length > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    used = 0;
  }
  used += length;
  return pool.slice(used - length, used);
}
