/**
 * Immutable text that grows by many small pieces. V8 stores `text + piece` as a tree with a node per piece, which takes
 * more memory than the text, so pieces are joined from time to time.
 */
export interface GrowingText {
  readonly prefix: string;
  readonly fresh: string;
}

export const NO_TEXT: GrowingText = { prefix: "", fresh: "" };

/** Pieces are joined once they are at least this long in total, */
const JOIN_CHARACTERS_MIN = 1024;
/** and at least this fraction of the joined text, so that joining stays linear. */
const JOIN_PART_MIN = 1 / 4;

export function grow({ prefix, fresh }: GrowingText, piece: string): GrowingText {
  const suffix = fresh + piece;
  if (suffix.length < Math.max(JOIN_CHARACTERS_MIN, prefix.length * JOIN_PART_MIN)) return { prefix, fresh: suffix };
  return { prefix: [prefix, suffix].join(""), fresh: "" }; // `join` copies; `+` would add a node.
}

export function wholeTextOf({ prefix, fresh }: GrowingText): string {
  return prefix + fresh;
}

export function lengthOf({ prefix, fresh }: GrowingText): number {
  return prefix.length + fresh.length;
}
