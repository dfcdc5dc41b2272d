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
/** Characters and parts of all tries: a short grammar can ask for more than anyone wants to write. */
const WRITES_MAX = 100_000;

/** What writing may still cost. */
interface Budget {
  charactersLeft: number;
}

/** The smallest sentence of a Lark grammar, or null where the engine finds none. */
export function writeSentence(definition: string): string | null {
  const grammar = readLarkGrammar(definition);
  if (grammar === null) return null;
  const sentences = smallestSentences(grammar);
  return sentences.get("start") ?? null;
}

/**
 * Rules learn their smallest sentence from each other, until nobody learns anything; a rule that never ends learns
 * none.
 */
function smallestSentences({ rules, ignoresSpace }: LarkGrammar): ReadonlyMap<string, string> {
  const known = new Map(Object.entries(COMMON_TERMINALS));
  const budget = { charactersLeft: WRITES_MAX };
  for (const name of rules.keys()) known.delete(name);
  for (let learned = true; learned; ) {
    learned = false;
    for (const [name, expansion] of rules) {
      const isTerminal = name === name.toUpperCase();
      const sentence = known.has(name)
        ? null
        : new Writer(known, ignoresSpace && !isTerminal ? " " : "", budget).write(expansion);
      if (sentence === null || sentence.length > SENTENCE_CHARS_MAX) continue;
      known.set(name, sentence);
      learned = true;
    }
  }
  return known;
}

class Writer {
  readonly #known: ReadonlyMap<string, string>;
  readonly #gap: string;
  readonly #budget: Budget;

  constructor(known: ReadonlyMap<string, string>, gap: string, budget: Budget) {
    this.#known = known;
    this.#gap = gap;
    this.#budget = budget;
  }

  /** Null for what is not known yet, or costs more than is left. */
  write(expansion: Expansion): string | null {
    this.#budget.charactersLeft -= 1;
    const text = this.#budget.charactersLeft < 0 ? null : this.#writeOne(expansion);
    this.#budget.charactersLeft -= text?.length ?? 0;
    return text;
  }

  #writeOne(expansion: Expansion): string | null {
    switch (expansion.type) {
      case "text":
        return expansion.text;
      case "pattern":
        return writePattern(expansion.source, undefined, this.#budget);
      case "rule":
        return this.#known.get(expansion.name) ?? null;
      case "sequence":
        return this.#writeAll(expansion.parts);
      case "choice":
        return this.#writeAny(expansion.branches);
      default:
        return assertNever(expansion);
    }
  }

  #writeAll(parts: readonly Expansion[]): string | null {
    const texts: string[] = [];
    for (const part of parts) {
      const text = this.write(part);
      if (text === null) return null;
      if (text !== "") texts.push(text);
    }
    return texts.join(this.#gap);
  }

  #writeAny(branches: readonly Expansion[]): string | null {
    for (const branch of branches) {
      const text = this.write(branch);
      if (text !== null) return text;
    }
    return null;
  }
}
