import { assertNever } from "../../../base/assert.ts";
import { writePattern } from "../json/write-pattern.ts";
import { type Expansion, type LarkGrammar, readLarkGrammar } from "./lark-grammar.ts";

/** The terminals of Lark's common library, each with a matching text. */
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
/** Characters and parts written for one grammar. A short grammar can describe a huge sentence. */
const WRITES_MAX = 100_000;

/** How much may still be written. */
interface Budget {
  charactersLeft: number;
}

/** The smallest sentence of a Lark grammar; null if the engine finds none. */
export function writeSentence(definition: string): string | null {
  const grammar = readLarkGrammar(definition);
  if (grammar === null) return null;
  const sentences = smallestSentences(grammar);
  return sentences.get("start") ?? null;
}

/**
 * Finds a sentence for each rule, from the sentences of other rules, until no more is found. A rule without a finite
 * sentence gets none.
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

  /** Null if a rule has no sentence yet or the budget is used up. */
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
