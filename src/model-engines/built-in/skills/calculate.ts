import { evaluateExpression } from "./evaluate-expression.ts";
import type { Question } from "./skill.ts";

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

/** "What is 2+2*3", or an expression alone: the expression and its value. */
export function calculate({ text }: Question): string | null {
  const signs = WORDS.reduce((rest, [word, sign]) => rest.replaceAll(word, sign), text.slice(0, READ_CHARS_MAX));
  const found = (ALONE.exec(signs) ?? ASKED.exec(signs))?.[1];
  // What follows the last number is the sentence's, not the sum's.
  const expression = found?.replace(/[\s.+\-*/%^(]+$/, "");
  if (expression === undefined || !OPERATION.test(expression) || DATE.test(expression)) return null;
  const value = evaluateExpression(expression);
  if (value === null) return null;
  return Number.isFinite(value) ? `${expression} = ${Number(value.toPrecision(12))}` : `${expression} has no value.`;
}
