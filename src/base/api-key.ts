import { createHash, randomInt } from "node:crypto";

const PREFIX = "sk-antiphon-";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 48;
const SHOWN_FIRST = 8;
const SHOWN_LAST = 4;

/** A fresh key: the prefix and 48 letters and digits, 285 bits of chance. */
export function newApiKey(): string {
  let key = PREFIX;
  for (let length = 0; length < RANDOM_LENGTH; length++) key += ALPHABET.charAt(randomInt(ALPHABET.length));
  return key;
}

/** What is stored of a key. A plain hash is enough: a key made by `newApiKey` cannot be found by guessing. */
export function hashApiKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/**
 * A key as an error message may show it: the reference keeps the first eight and the last four characters and stars the
 * rest.
 */
export function maskApiKey(key: string): string {
  const hidden = key.length - SHOWN_FIRST - SHOWN_LAST;
  if (hidden <= 0) return key;
  return key.slice(0, SHOWN_FIRST) + "*".repeat(hidden) + key.slice(-SHOWN_LAST);
}
