import { assertNever } from "../../../base/assert.ts";
import { writePattern } from "../json/write-pattern.ts";
import { type Expansion, type LarkGrammar, readLarkGrammar } from "./lark-grammar.ts";

/** Terminals that Lark's own library has, each with a text. */
const COMMON_TERMINALS: Readonly<Record<string, string>> = {
  CNAME: "name",
  WORD: "word",
  LETTER: "a",
  LCASE_LETTER: "a",
  UCASE_LETTER: "A",
  DIGIT: "1",
  HEXDIGIT: "1",
  INT: "1",
  SIGNED_INT: "1",
  NUMBER: "1",
  SIGNED_NUMBER: "1",
  FLOAT: "1.5",
  SIGNED_FLOAT: "1.5",
  DECIMAL: "1.5",
  ESCAPED_STRING: '"text"',
  WS: " ",
  WS_INLINE: " ",
  NEWLINE: "\n",
  LF: "\n",
  CR: "\r",
};
const SENTENCE_CHARS_MAX = 20_000;

/** The smallest sentence of a Lark grammar, or null where the engine finds none. */
export function writeSentence(definition: string): string | null {
  const grammar = readLarkGrammar(definition);
  if (grammar === null) return null;
  const sentences = smallestSentences(grammar);
  return sentences.get("start") ?? null;
}

/** Rules learn their smallest sentence from each other, until nobody learns anything; a rule that never ends learns none. */
function smallestSentences({ rules, ignoresSpace }: LarkGrammar): ReadonlyMap<string, string> {
  const known = new Map(Object.entries(COMMON_TERMINALS));
  for (const name of rules.keys()) known.delete(name);
  for (let learned = true; learned; ) {
    learned = false;
    for (const [name, expansion] of rules) {
      const isTerminal = name === name.toUpperCase();
      const sentence = known.has(name) ? null : expand(expansion, known, ignoresSpace && !isTerminal ? " " : "");
      if (sentence === null || sentence.length > SENTENCE_CHARS_MAX) continue;
      known.set(name, sentence);
      learned = true;
    }
  }
  return known;
}

function expand(expansion: Expansion, known: ReadonlyMap<string, string>, gap: string): string | null {
  switch (expansion.type) {
    case "text":
      return expansion.text;
    case "pattern":
      return writePattern(expansion.source);
    case "rule":
      return known.get(expansion.name) ?? null;
    case "sequence": {
      const parts = expansion.parts.map((part) => expand(part, known, gap));
      return parts.includes(null) ? null : parts.filter((part) => part !== null && part !== "").join(gap);
    }
    case "choice":
      return expansion.branches.map((branch) => expand(branch, known, gap)).find((text) => text !== null) ?? null;
    default:
      return assertNever(expansion);
  }
}
