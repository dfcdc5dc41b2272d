/**
 * Text that grows by many small pieces. V8 keeps `text + piece` as a tree with one node for each piece, which takes
 * more memory than the text itself, so the pieces are joined now and then. Never changed in place.
 */
export interface GrowingText {
  readonly joined: string;
  readonly fresh: string;
}

export const NO_TEXT: GrowingText = { joined: "", fresh: "" };

/** Pieces are joined when they are at least this long together, */
const JOIN_CHARACTERS_MIN = 16 * 1024;
/** and at least this part of what is joined already, so that joining stays linear. */
const JOIN_PART_MIN = 1 / 4;

export function grow({ joined, fresh }: GrowingText, piece: string): GrowingText {
  const grown = fresh + piece;
  if (grown.length < Math.max(JOIN_CHARACTERS_MIN, joined.length * JOIN_PART_MIN)) return { joined, fresh: grown };
  return { joined: [joined, grown].join(""), fresh: "" }; // `join` copies; `+` would make one more node.
}

export function textOf({ joined, fresh }: GrowingText): string {
  return joined + fresh;
}

export function lengthOf({ joined, fresh }: GrowingText): number {
  return joined.length + fresh.length;
}
