import { Parser } from "expr-eval-fork";

const READ_CHARS_MAX = 400;
const ALONE = /^(-?[\d(.][\d\s.+\-*/%^()]*)[\s=?!]*$/;
const ASKED =
  /\b(?:what(?:'s|’s| is| are)|calculate|compute|evaluate|solve|how much (?:is|are))\s+(-?[\d(.][\d\s.+\-*/%^()]*)/i;
const OPERATION = /[\d)]\s*[+\-*/%^]\s*[-\d(.]/;
/** A date, or what the library would take for a comment. */
const NO_EXPRESSION = /^\d{4}-\d{1,2}-\d{1,2}\b|\/\*/;
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b/gi, "+"],
  [/\bminus\b|[−–]/gi, "-"],
  [/\b(?:times|multiplied by)\b|[×·]/gi, "*"],
  [/\b(?:over|divided by)\b|÷/gi, "/"],
  [/\bto the power of\b|\*\*/gi, "^"],
];

/** Answers "What is 2+2*3", or an expression alone, with the expression and its value. */
export function calculate(text: string): string | null {
  const signs = WORDS.reduce((rest, [word, sign]) => rest.replaceAll(word, sign), text.slice(0, READ_CHARS_MAX));
  const match = (ALONE.exec(signs) ?? ASKED.exec(signs))?.[1];
  // Signs after the last number belong to the sentence.
  const expression = match?.replace(/[\s.+\-*/%^(]+$/, "");
  if (expression === undefined || !OPERATION.test(expression) || NO_EXPRESSION.test(expression)) return null;
  const value = evaluate(expression);
  if (value === null) return null;
  return Number.isFinite(value) ? `${expression} = ${Number(value.toPrecision(12))}` : `${expression} has no value.`;
}

/** Null for what is no expression. It holds numbers, signs and parentheses only: no names, so nothing is called. */
function evaluate(expression: string): number | null {
  try {
    const value: unknown = Parser.evaluate(expression);
    return typeof value === "number" ? value : null;
  } catch {
    return null;
  }
}
