import { assertNever } from "@antiphon/base/assert.ts";
import { type AST, RegExpParser } from "@eslint-community/regexpp";
import { type GrammarRules, literal } from "./grammar-rules.ts";

/** How often a part without an upper bound is repeated. */
const REPEATS_MAX = 64;

/** A part of a regular expression that no grammar says. */
class Unsayable extends Error {
  override readonly name = "Unsayable";
}

/**
 * The contents of a JSON string that a regular expression matches as a whole; null if no grammar says that. The pattern
 * is read and never run, because it comes from a client.
 */
export function patternGrammar(rules: GrammarRules, source: string): string | null {
  try {
    const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode: true });
    return alternativesGrammar(rules, pattern.alternatives);
  } catch (error) {
    if (error instanceof Unsayable || error instanceof SyntaxError) return null;
    throw error;
  }
}

function alternativesGrammar(rules: GrammarRules, alternatives: readonly AST.Alternative[]): string {
  return rules.add(
    alternatives
      .map(({ elements }) => elements.map((element) => elementGrammar(rules, element)).join(" "))
      .map((body) => (body.trim() === "" ? '""' : body))
      .join(" | "),
  );
}

function elementGrammar(rules: GrammarRules, element: AST.Element): string {
  switch (element.type) {
    case "Assertion":
      if (element.kind === "start" || element.kind === "end") return "";
      throw new Unsayable();
    case "Character":
      return rules.add(characterGrammar(element.value));
    case "CharacterSet":
      return rules.add(setGrammar(rules, element));
    case "CharacterClass":
      return rules.add(classGrammar(element));
    case "Group":
    case "CapturingGroup":
      return alternativesGrammar(rules, element.alternatives);
    case "Quantifier": {
      const max = Number.isFinite(element.max) ? element.max : Math.max(REPEATS_MAX, element.min);
      return rules.add(`${elementGrammar(rules, element.element)}{${element.min},${max}}`);
    }
    case "Backreference":
    case "ExpressionCharacterClass":
      throw new Unsayable();
    default:
      return assertNever(element);
  }
}

/** A character as it is written in a JSON string. */
function characterGrammar(code: number): string {
  return literal(JSON.stringify(String.fromCodePoint(code)).slice(1, -1));
}

const SETS: Readonly<Record<string, string>> = { digit: "0-9", word: "a-zA-Z0-9_", space: " " };

function setGrammar(rules: GrammarRules, set: AST.CharacterSet): string {
  if (set.kind === "any") return rules.character();
  const members = SETS[set.kind];
  if (members === undefined) throw new Unsayable();
  return "negate" in set && set.negate ? `[^${members}${UNWRITTEN}]` : `[${members}]`;
}

/** Characters that stand in a JSON string only behind a backslash; a negated class leaves them out. */
const UNWRITTEN = '"\\\\\\x00-\\x1F\\x7F';

function classGrammar({ elements, negate }: AST.CharacterClass): string {
  const members = elements.map((element) => {
    if (element.type === "Character") return classCharacter(element.value);
    if (element.type === "CharacterClassRange")
      return `${classCharacter(element.min.value)}-${classCharacter(element.max.value)}`;
    const ranges = element.type === "CharacterSet" ? SETS[element.kind] : undefined;
    if (ranges === undefined || (element.type === "CharacterSet" && "negate" in element && element.negate))
      throw new Unsayable();
    return ranges;
  });
  if (negate) return `[^${members.join("")}${UNWRITTEN}]`;
  // A class of characters that need a backslash in JSON is left to other engines.
  if (elements.some((element) => reachesUnwritten(element))) throw new Unsayable();
  return `[${members.join("")}]`;
}

function reachesUnwritten(element: AST.CharacterClass["elements"][number]): boolean {
  const isWithin = (code: number): boolean => {
    if (element.type === "Character") return element.value === code;
    return element.type === "CharacterClassRange" && element.min.value <= code && code <= element.max.value;
  };
  return isWithin(0x22) || isWithin(0x5c);
}

function classCharacter(code: number): string {
  const character = String.fromCodePoint(code);
  if (/[\]\\^-]/.test(character)) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x20 ? `\\x${code.toString(16).padStart(2, "0")}` : character;
}
