/**
 * Immutable text that grows by many small pieces. V8 stores `text + piece` as a tree with a node per piece, which takes
 * more memory than the text, so pieces are joined from time to time.
 */
export interface GrowingText {
  readonly joined: string;
  readonly fresh: string;
}

export const NO_TEXT: GrowingText = { joined: "", fresh: "" };

/** Pieces are joined once they are at least this long in total, */
const JOIN_CHARACTERS_MIN = 1024;
/** and at least this fraction of the joined text, so that joining stays linear. */
const JOIN_PART_MIN = 1 / 4;

export function grow({ joined, fresh }: GrowingText, piece: string): GrowingText {
  const grown = fresh + piece;
  if (grown.length < Math.max(JOIN_CHARACTERS_MIN, joined.length * JOIN_PART_MIN)) return { joined, fresh: grown };
  return { joined: [joined, grown].join(""), fresh: "" }; // `join` copies; `+` would add a node.
}

export function wholeTextOf({ joined, fresh }: GrowingText): string {
  return joined + fresh;
}

export function lengthOf({ joined, fresh }: GrowingText): number {
  return joined.length + fresh.length;
}
