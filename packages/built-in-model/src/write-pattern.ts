import { type AST, RegExpParser } from "@eslint-community/regexpp";

export interface TextOptions {
  /** Bounds of the length in code points. */
  readonly min: number;
  readonly max: number;
  /** Different numbers give different texts where the pattern allows it. */
  readonly variant: number;
}

/** What may still be written. */
export interface Budget {
  charactersLeft: number;
}

interface Writing {
  /** The length of an unlimited repetition. */
  readonly repeats: number;
  readonly budget: Budget;
  turn: number;
  partsLeft: number;
}

const ANY_LENGTH: TextOptions = { min: 0, max: Infinity, variant: 0 };
const SOURCE_CHARS_MAX = 2000;
/** Characters and parts written in one try; a pattern that needs more gets no text. */
const PARTS_MAX = 20_000;
/** The lengths tried for an unlimited repetition, in this order. */
const REPEATS: readonly number[] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 4096];
const KNOWN_CHARACTERS = Array.from(
  "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ -_.,:;/@#!?+*=()[]{}<>'\"%&$^~|`\\\t\néÉ漢",
);

/**
 * A short text that the regular expression matches as a whole; null if the engine finds none. The pattern is never run,
 * because it comes from a client.
 */
export function writePattern(
  source: string,
  { min, max, variant } = ANY_LENGTH,
  budget: Budget = { charactersLeft: 100_000 },
): string | null {
  budget.charactersLeft -= source.length;
  const pattern = source.length > SOURCE_CHARS_MAX || budget.charactersLeft < 0 ? null : readPattern(source);
  for (const repeats of pattern === null ? [] : [...REPEATS.slice(variant % 6), 0]) {
    const text = writeNode(pattern, { repeats, budget, turn: variant, partsLeft: PARTS_MAX });
    const length = text === null ? -1 : Array.from(text).length;
    if (length >= min && length <= max) return text;
  }
  return null;
}

/** The text with the fewest repetitions. Reading a pattern costs, too. */
export function writeSmallest(source: string, budget: Budget): string | null {
  budget.charactersLeft -= source.length;
  return budget.charactersLeft < 0
    ? null
    : writeNode(readPattern(source), { repeats: 0, budget, turn: 0, partsLeft: PARTS_MAX });
}

/** Reads the dialect of Python, too. What is no pattern with the flag `u` may be one without. */
function readPattern(source: string): AST.Pattern | null {
  const anchors: Readonly<Record<string, string>> = { "(?P<": "(?<", "\\A": "^", "\\z": "$", "\\Z": "$" };
  const pattern = source.replaceAll(/\\[^]|\(\?P</g, (sign) => anchors[sign] ?? sign);
  if (/\[:\w+:\]/.test(source)) return null;
  try {
    const unicode = /\\p/i.test(pattern) || isUnicodePattern(pattern);
    return new RegExpParser().parsePattern(pattern, 0, pattern.length, { unicode });
  } catch {
    return null; // No pattern, or nested too deeply.
  }
}

function isUnicodePattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").unicode;
  } catch {
    return false;
  }
}

/** Null if no text fits or the budget is used up. Parts cost too, because there may be many empty ones. */
function writeNode(node: AST.Pattern | AST.Alternative | AST.Element | null, writing: Writing): string | null {
  writing.partsLeft -= 1;
  writing.budget.charactersLeft -= 1;
  if (writing.partsLeft < 0 || writing.budget.charactersLeft < 0) return null;
  switch (node?.type) {
    case "Alternative":
      return writeTimes(node.elements, 1, writing);
    case "Quantifier":
      return writeTimes([node.element], Math.min(Math.max(node.min, writing.repeats), node.max), writing);
    case "Assertion": // An anchor is passed over: the text is always the whole match.
      return node.kind === "start" || node.kind === "end" || (node.kind === "word" && !node.negate) ? "" : null;
    case "Pattern":
    case "CapturingGroup":
    case "Group":
      if (node.type === "Group" && node.modifiers !== null) return null;
      for (const branch of node.alternatives) {
        const written = writeNode(branch, writing);
        if (written !== null) return written;
      }
      return null;
    case "Character":
    case "CharacterSet":
    case "CharacterClass": {
      // The next of the fitting characters each time, so that the text is not one repeated character.
      const fitting = samplesByClass.get(node) ?? fittingCharacters(node);
      samplesByClass.set(node, fitting);
      writing.turn += 1;
      return fitting[(writing.turn - 1) % fitting.length] ?? null;
    }
    case "Backreference":
    case "ExpressionCharacterClass":
    case undefined:
      return null;
  }
}

function writeTimes(parts: readonly AST.Element[], times: number, writing: Writing): string | null {
  let text = "";
  for (let time = 0; time < times; time += 1) {
    for (const part of parts) {
      const written = writeNode(part, writing);
      if (written === null) return null;
      text += written;
    }
  }
  return text;
}

type OneCharacter = AST.Character | AST.CharacterSet | AST.CharacterClass;
const samplesByClass = new WeakMap<OneCharacter, readonly string[]>();

/** Runs the pattern of the one character, which is harmless. */
function fittingCharacters(node: OneCharacter): readonly string[] {
  if (node.type === "Character") return [String.fromCodePoint(node.value)];
  const members = node.type === "CharacterClass" ? node.elements : [];
  const named = members.flatMap((member) => {
    if (member.type === "CharacterClassRange") return [member.min.value, member.max.value];
    return member.type === "Character" ? [member.value] : [];
  });
  const one = new RegExp(`^${node.raw}$`, isUnicodePattern(node.raw) ? "u" : "");
  const samples = named.map((code) => String.fromCodePoint(code));
  return [...KNOWN_CHARACTERS, ...samples].filter((character) => one.test(character));
}
