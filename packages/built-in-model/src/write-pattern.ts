import { type AST, RegExpParser } from "@eslint-community/regexpp";

export interface TextOptions {
  /** Bounds of the length in code points. */
  readonly min: number;
  readonly max: number;
  /** Different numbers give different texts where the pattern allows it. */
  readonly variant: number;
  /** The lengths tried for an unlimited repetition, in this order. */
  readonly repeats?: readonly number[];
}

/** What may still be read and written. */
export interface Budget {
  charactersLeft: number;
}

interface Writing {
  readonly flags: string;
  readonly budget: Budget;
  /** The length of an unlimited repetition. */
  readonly repeats: number;
  /** Characters that fit, for each class of characters. */
  readonly samples: Map<AST.Element, readonly string[]>;
  turn: number;
  partsLeft: number;
}

/** Characters and parts written in one try; a pattern that needs more gets no text. */
const PARTS_MAX = 20_000;
const REPEATS: readonly number[] = [1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 1024, 4096, 0];
const KNOWN_CHARACTERS = Array.from(
  "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ -_.,:;/@#!?+*=()[]{}<>'\"%&$^~|`\\\t\néÉ漢",
);

/**
 * A short text that the regular expression matches as a whole; null if the engine finds none. The pattern is never run,
 * because it comes from a client.
 */
export function writePattern(
  source: string,
  { min = 0, max = Infinity, variant = 0, repeats = REPEATS.slice(variant % 6) }: Partial<TextOptions> = {},
  budget: Budget = { charactersLeft: 100_000 },
): string | null {
  budget.charactersLeft -= source.length;
  const read = budget.charactersLeft < 0 ? null : readPattern(source);
  if (read === null) return null;
  const shared = { flags: read.flags, budget, samples: new Map(), turn: variant, partsLeft: PARTS_MAX };
  for (const count of repeats) {
    const text = writeNode(read.pattern, { ...shared, repeats: count });
    const length = text === null ? -1 : Array.from(text).length;
    if (length >= min && length <= max) return text;
  }
  return null;
}

/** Reads the dialect of Python, too. What is no pattern with the flag `u` may be one without. */
function readPattern(source: string): { readonly pattern: AST.Pattern; readonly flags: string } | null {
  if (/\[:\w+:\]/.test(source)) return null;
  const anchors: Readonly<Record<string, string>> = { "(?P<": "(?<", "\\A": "^", "\\z": "$", "\\Z": "$" };
  const text = source.replaceAll(/\\[^]|\(\?P</g, (sign) => anchors[sign] ?? sign);
  for (const flags of /\\p/i.test(text) ? ["u"] : ["u", ""]) {
    try {
      return { pattern: new RegExpParser().parsePattern(text, 0, text.length, { unicode: flags === "u" }), flags };
    } catch {
      // No pattern with these flags, or nested too deeply.
    }
  }
  return null;
}

/** Null if no text fits or the budget is used up. Parts cost too, because there may be many empty ones. */
function writeNode(node: AST.Pattern | AST.Alternative | AST.Element, writing: Writing): string | null {
  writing.partsLeft -= 1;
  writing.budget.charactersLeft -= 1;
  if (writing.partsLeft < 0 || writing.budget.charactersLeft < 0) return null;
  switch (node.type) {
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
        const text = writeNode(branch, writing);
        if (text !== null) return text;
      }
      return null;
    case "Character":
      writing.turn += 1;
      return String.fromCodePoint(node.value);
    case "CharacterSet":
    case "CharacterClass": {
      // The next of the fitting characters each time, so that the text is not one repeated character.
      const fitting = writing.samples.get(node) ?? fittingCharacters(node, writing.flags);
      writing.samples.set(node, fitting);
      writing.turn += 1;
      return fitting[(writing.turn - 1) % fitting.length] ?? null;
    }
    case "Backreference":
    case "ExpressionCharacterClass":
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

/** Runs the pattern of the one character, which is harmless, on known characters and on those that it names. */
function fittingCharacters({ raw }: AST.CharacterSet | AST.CharacterClass, flags: string): readonly string[] {
  const one = new RegExp(`^${raw}$`, flags);
  return [...KNOWN_CHARACTERS, ...raw].filter((character) => one.test(character));
}
