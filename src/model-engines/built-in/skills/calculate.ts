import type { SkillInput } from "./skill.ts";

const READ_CHARS_MAX = 400;
const ALONE = /^(-?[\d(.][\d\s.+\-*/%^()]*)[\s=?!]*$/;
const ASKED =
  /\b(?:what(?:'s|’s| is| are)|calculate|compute|evaluate|solve|how much (?:is|are))\s+(-?[\d(.][\d\s.+\-*/%^()]*)/i;
const OPERATION = /[\d)]\s*[+\-*/%^]\s*[-\d(.]/;
const DATE = /^\d{4}-\d{1,2}-\d{1,2}\b/;
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b/gi, "+"],
  [/\bminus\b|[−–]/gi, "-"],
  [/\b(?:times|multiplied by)\b|[×·]/gi, "*"],
  [/\b(?:over|divided by)\b|÷/gi, "/"],
  [/\bto the power of\b|\*\*/gi, "^"],
];

/** Answers "What is 2+2*3", or an expression alone, with the expression and its value. */
export function calculate({ text }: SkillInput): string | null {
  const signs = WORDS.reduce((rest, [word, sign]) => rest.replaceAll(word, sign), text.slice(0, READ_CHARS_MAX));
  const found = (ALONE.exec(signs) ?? ASKED.exec(signs))?.[1];
  // Signs after the last number belong to the sentence.
  const expression = found?.replace(/[\s.+\-*/%^(]+$/, "");
  if (expression === undefined || !OPERATION.test(expression) || DATE.test(expression)) return null;
  const value = evaluateExpression(expression);
  if (value === null) return null;
  return Number.isFinite(value) ? `${expression} = ${Number(value.toPrecision(12))}` : `${expression} has no value.`;
}

/** The value of a sum in `+ - * / % ^` and parentheses, or null if it is none. Nothing is ever run as code. */
function evaluateExpression(text: string): number | null {
  const tokens = text.match(/\d+(?:\.\d*)?|\.\d+|\S/g) ?? [];
  const reader = new ExpressionReader(tokens);
  const value = reader.readSum();
  return reader.atEnd ? value : null;
}

/** A recursive descent parser: one method for each level of precedence, null on a syntax error. */
class ExpressionReader {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get atEnd(): boolean {
    return this.#position === this.#tokens.length;
  }

  readSum(): number | null {
    let sum = this.#readProduct();
    for (let sign = this.#take("+", "-"); sign !== null; sign = this.#take("+", "-")) {
      sum = combine(sign, sum, this.#readProduct());
    }
    return sum;
  }

  #readProduct(): number | null {
    let product = this.#readPower();
    for (let sign = this.#take("*", "/", "%"); sign !== null; sign = this.#take("*", "/", "%")) {
      product = combine(sign, product, this.#readPower());
    }
    return product;
  }

  /** A power is right-associative and binds tighter than a sign: -2^2 is -4. */
  #readPower(): number | null {
    if (this.#take("-") !== null) return combine("-", 0, this.#readPower());
    if (this.#take("+") !== null) return this.#readPower();
    const base = this.#readAtom();
    return this.#take("^") === null ? base : combine("^", base, this.#readPower());
  }

  #readAtom(): number | null {
    if (this.#take("(") !== null) {
      const inner = this.readSum();
      return this.#take(")") === null ? null : inner;
    }
    const token = this.#tokens[this.#position];
    if (token === undefined || !/\d/.test(token)) return null;
    this.#position += 1;
    return Number(token);
  }

  #take(...wanted: readonly string[]): string | null {
    const token = this.#tokens[this.#position];
    if (token === undefined || !wanted.includes(token)) return null;
    this.#position += 1;
    return token;
  }
}

function combine(sign: string, left: number | null, right: number | null): number | null {
  if (left === null || right === null) return null;
  switch (sign) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "^":
      return left ** right;
    default:
      return null;
  }
}
