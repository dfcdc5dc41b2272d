import { anyCharacter, type CharacterClass, literal, readClass, readEscape } from "./pattern-class.ts";
import { PatternCursor, UnsupportedPattern } from "./pattern-cursor.ts";

/** A parsed regular expression, reduced to what is needed to write a matching text. */
export type Pattern =
  | CharacterClass
  | { readonly type: "sequence"; readonly parts: readonly Pattern[] }
  | { readonly type: "choice"; readonly branches: readonly Pattern[] }
  | { readonly type: "repeat"; readonly part: Pattern; readonly min: number; readonly max: number };

/** Bounds the reader's recursion. */
const SOURCE_CHARS_MAX = 2000;
const NOTHING: Pattern = { type: "sequence", parts: [] };

/**
 * Null if the pattern uses something unsupported, such as a lookahead or a back reference. The pattern is never run,
 * because it comes from a client.
 */
export function readPattern(source: string): Pattern | null {
  if (source.length > SOURCE_CHARS_MAX) return null;
  const cursor = new PatternCursor(source);
  try {
    const pattern = readChoice(cursor);
    return cursor.atEnd ? pattern : null;
  } catch (error) {
    if (error instanceof UnsupportedPattern) return null;
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
  cursor.take("?"); // Lazy and greedy repetitions match the same texts.
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
      return NOTHING; // The written text is always the whole match.
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
      throw new UnsupportedPattern();
    default:
      return literal(character);
  }
}

function readGroup(cursor: PatternCursor): Pattern {
  const opens = cursor.takeMatch(/\?(?::|P?<[A-Za-z_]\w*>)/y);
  if (opens === null && cursor.peek() === "?") throw new UnsupportedPattern();
  const inner = readChoice(cursor);
  if (!cursor.take(")")) throw new UnsupportedPattern();
  return inner;
}
