import { anyCharacter, type CharacterClass, literal, readClass, readEscape } from "./pattern-class.ts";
import { NotUnderstood, PatternCursor } from "./pattern-cursor.ts";

/** A regular expression, as far as one that only writes texts needs to know it. */
export type Pattern =
  | CharacterClass
  | { readonly type: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly type: "choice"; readonly branches: readonly Pattern[] }
  | { readonly type: "repeat"; readonly part: Pattern; readonly min: number; readonly max: number };

/** Keeps the reader's recursion shallow. */
const SOURCE_CHARS_MAX = 2000;
const NOTHING: Pattern = { type: "sequence", parts: [] };

/**
 * Null for what the reader does not understand, such as a look ahead or a reference back. The pattern is never run: a
 * client wrote it.
 */
export function readPattern(source: string): Pattern | null {
  if (source.length > SOURCE_CHARS_MAX) return null;
  const cursor = new PatternCursor(source);
  try {
    const pattern = readChoice(cursor);
    return cursor.atEnd ? pattern : null;
  } catch (error) {
    if (error instanceof NotUnderstood) return null;
    throw error;
  }
}

function readChoice(cursor: PatternCursor): Pattern {
  const branches = [readSequence(cursor)];
  while (cursor.take("|")) branches.push(readSequence(cursor));
  return { type: "choice", branches };
}

function readSequence(cursor: PatternCursor): Pattern {
  const parts: Pattern[] = [];
  while (!cursor.atEnd && cursor.peek() !== "|" && cursor.peek() !== ")") parts.push(readRepeat(cursor));
  return { type: "sequence", parts };
}

function readRepeat(cursor: PatternCursor): Pattern {
  const part = readAtom(cursor);
  const times = readTimes(cursor);
  if (times === null) return part;
  cursor.take("?"); // A lazy repetition allows the same texts as a greedy one.
  return { type: "repeat", part, ...times };
}

function readTimes(cursor: PatternCursor): { readonly min: number; readonly max: number } | null {
  if (cursor.take("?")) return { min: 0, max: 1 };
  if (cursor.take("*")) return { min: 0, max: Infinity };
  if (cursor.take("+")) return { min: 1, max: Infinity };
  const [braces, low, comma, high] = cursor.takeMatch(/\{(\d{1,9})(,(\d{1,9})?)?\}/y) ?? [];
  if (braces === undefined) return null;
  const min = Number(low);
  return { min, max: comma === undefined ? min : high === undefined ? Infinity : Number(high) };
}

function readAtom(cursor: PatternCursor): Pattern {
  const character = cursor.next();
  switch (character) {
    case "^":
    case "$":
      return NOTHING; // Texts are written whole, so that their ends are where they belong.
    case "(":
      return readGroup(cursor);
    case "[":
      return readClass(cursor);
    case ".":
      return anyCharacter();
    case "\\":
      return cursor.takeMatch(/[bAz]/y) === null ? readEscape(cursor) : NOTHING;
    case "*":
    case "+":
    case "?":
      throw new NotUnderstood();
    default:
      return literal(character);
  }
}

function readGroup(cursor: PatternCursor): Pattern {
  const opens = cursor.takeMatch(/\?(?::|P?<[A-Za-z_]\w*>)/y);
  if (opens === null && cursor.peek() === "?") throw new NotUnderstood();
  const inner = readChoice(cursor);
  if (!cursor.take(")")) throw new NotUnderstood();
  return inner;
}
