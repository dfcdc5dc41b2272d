import { type PatternCursor, UnsupportedPattern } from "./pattern-cursor.ts";

/** The part of a pattern that matches one character. */
export interface CharacterClass {
  readonly type: "class";
  readonly admits: (character: string) => boolean;
  /** Characters that the pattern names, tried besides the common ones. */
  readonly samples: readonly string[];
}

const ESCAPED_CLASSES: Readonly<Record<string, RegExp>> = { d: /\d/, D: /\D/, w: /\w/, W: /\W/, s: /\s/, S: /\S/ };
const ESCAPED_CHARACTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", 0: "\0" };

export function literal(character: string): CharacterClass {
  return { type: "class", admits: (other) => other === character, samples: [character] };
}

export function anyCharacter(): CharacterClass {
  return { type: "class", admits: (character) => character !== "\n" && character !== "\r", samples: [] };
}

/** Reads a class after its `[`. */
export function readClass(cursor: PatternCursor): CharacterClass {
  const negated = cursor.take("^");
  const members: CharacterClass[] = [];
  while (!cursor.take("]")) members.push(readRange(cursor));
  const inside = (character: string): boolean => members.some((member) => member.admits(character));
  return {
    type: "class",
    admits: (character) => inside(character) !== negated,
    samples: members.flatMap((member) => member.samples),
  };
}

function readRange(cursor: PatternCursor): CharacterClass {
  const first = readMember(cursor);
  if (cursor.takeMatch(/-(?!\])/y) === null) return first;
  const from = first.samples[0];
  const to = readMember(cursor).samples[0];
  if (from === undefined || to === undefined) throw new UnsupportedPattern();
  const low = from.codePointAt(0) ?? 0;
  const high = to.codePointAt(0) ?? 0;
  const admits = (character: string): boolean => {
    const code = character.codePointAt(0) ?? 0;
    return code >= low && code <= high;
  };
  return { type: "class", admits, samples: [from, to] };
}

function readMember(cursor: PatternCursor): CharacterClass {
  const character = cursor.next();
  if (character === "[" && cursor.peek() === ":") throw new UnsupportedPattern(); // A POSIX class.
  if (character !== "\\") return literal(character);
  return cursor.take("b") ? literal("\b") : readEscape(cursor);
}

/** Reads an escape after its backslash. */
export function readEscape(cursor: PatternCursor): CharacterClass {
  const character = cursor.next();
  const known = ESCAPED_CLASSES[character];
  if (known !== undefined) return { type: "class", admits: (other) => known.test(other), samples: [] };
  if (character === "u" || character === "x") return literal(readCode(cursor, character));
  if (character === "p" || character === "P") return readProperty(cursor, character);
  if (/[1-9kB]/.test(character)) throw new UnsupportedPattern();
  return literal(ESCAPED_CHARACTERS[character] ?? character);
}

function readCode(cursor: PatternCursor, letter: "u" | "x"): string {
  const short = letter === "u" ? /([\da-f]{4})/iy : /([\da-f]{2})/iy;
  const digits = (cursor.takeMatch(/\{([\da-f]{1,6})\}/iy) ?? cursor.takeMatch(short))?.[1];
  const code = Number.parseInt(digits ?? "", 16);
  if (Number.isNaN(code) || code > 0x10ffff) throw new UnsupportedPattern();
  return String.fromCodePoint(code);
}

/** Reads a property such as `\p{Lu}`. The name is checked, so that nothing but a property is compiled. */
function readProperty(cursor: PatternCursor, letter: "p" | "P"): CharacterClass {
  const [, long, short] = cursor.takeMatch(/\{([\w=]{1,50})\}|([A-Z])/y) ?? [];
  try {
    const property = new RegExp(`^\\${letter}{${long ?? short ?? ""}}$`, "u");
    return { type: "class", admits: (character) => property.test(character), samples: [] };
  } catch (cause) {
    throw new UnsupportedPattern("an unknown property", { cause });
  }
}
