import { hash, randomInt } from "node:crypto";

const PREFIX = "sk-antiphon-";
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 48;
const SHOWN_FIRST = 8;
const SHOWN_LAST = 4;

/** Creates a key: the prefix and 48 random letters and digits, 285 bits. */
export function newApiKey(): string {
  let key = PREFIX;
  for (let length = 0; length < RANDOM_LENGTH; length++) key += ALPHABET.charAt(randomInt(ALPHABET.length));
  return key;
}

/** The stored form of a key: its SHA-256. No salt is needed, because a key of `newApiKey` cannot be guessed. */
export function hashApiKey(key: string): string {
  return hash("sha256", key, "hex");
}

/**
 * A key for error messages, masked as the reference does: the first eight and the last four characters, stars between.
 */
export function maskApiKey(key: string): string {
  const hiddenCount = key.length - SHOWN_FIRST - SHOWN_LAST;
  if (hiddenCount <= 0) return key;
  return key.slice(0, SHOWN_FIRST) + "*".repeat(hiddenCount) + key.slice(-SHOWN_LAST);
}
