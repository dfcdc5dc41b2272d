import { assert } from "@antiphon/base/assert.ts";
import { choice, END, type Expression, sequence } from "./expression.ts";

/** Definitions by name. */
export type Grammar = ReadonlyMap<string, Expression>;

/**
 * Reads lines `name = expression`; indented lines continue the line before. An expression has names of events and of
 * earlier definitions, `a b` for a sequence, `a | b` for a choice, `a*` for any number, `a+` for at least one, `[a]`
 * for an optional part, and parentheses.
 */
export function readGrammar(text: string, baseGrammar: Grammar = new Map()): Grammar {
  const grammar = new Map<string, Expression>();
  for (const line of text.trim().split(/\n(?=\S)/)) {
    const [, name = "", definition = ""] = /^(\S+)\s+=\s+(.*)$/s.exec(line) ?? [];
    assert(name !== "" && !grammar.has(name), `a grammar defines each name once: ${line}`);
    const words = definition.match(WORD) ?? [];
    const reader = new ExpressionReader(words, (word) => grammar.get(word) ?? baseGrammar.get(word));
    grammar.set(name, reader.readWhole());
  }
  return grammar;
}

const WORD = /[\w.-]+(?:<\w+>)?|[^\s\w]/g;
const CLOSING: ReadonlySet<string> = new Set([")", "]", "|"]);

class ExpressionReader {
  #at = 0;
  readonly #words: readonly string[];
  readonly #definition: (name: string) => Expression | undefined;

  constructor(words: readonly string[], definition: (name: string) => Expression | undefined) {
    this.#words = words;
    this.#definition = definition;
  }

  readWhole(): Expression {
    const whole = this.#readChoice();
    assert(this.#at === this.#words.length, `a grammar has an unexpected '${this.#words[this.#at]}'`);
    return whole;
  }

  #readChoice(): Expression {
    const options = [this.#readSequence()];
    while (this.#takes("|")) options.push(this.#readSequence());
    return choice(options);
  }

  #readSequence(): Expression {
    const members: Expression[] = [];
    for (let word = this.#words[this.#at]; word !== undefined && !CLOSING.has(word); word = this.#words[this.#at])
      members.push(this.#readRepeated());
    return members.reduceRight((rest, first) => sequence(first, rest), END);
  }

  #readRepeated(): Expression {
    const one = this.#readOne();
    if (this.#takes("*")) return { kind: "many", of: one };
    return this.#takes("+") ? sequence(one, { kind: "many", of: one }) : one;
  }

  #readOne(): Expression {
    if (this.#takes("(")) return this.#readUntil(")");
    if (this.#takes("[")) return choice([this.#readUntil("]"), END]);
    const name = this.#words[this.#at++] ?? "";
    assert(/^\w/.test(name), `a grammar needs a name instead of '${name}'`);
    return this.#definition(name) ?? { kind: "event", name };
  }

  #readUntil(closing: string): Expression {
    const inner = this.#readChoice();
    assert(this.#takes(closing), `a grammar lacks a closing '${closing}'`);
    return inner;
  }

  #takes(word: string): boolean {
    if (this.#words[this.#at] !== word) return false;
    this.#at++;
    return true;
  }
}
