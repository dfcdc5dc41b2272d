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
interface Operation {
  readonly rank: number;
  readonly apply: (left: number, right: number) => number;
}
const OPERATIONS: ReadonlyMap<string, Operation> = new Map([
  ["+", { rank: 1, apply: (left, right) => left + right }],
  ["-", { rank: 1, apply: (left, right) => left - right }],
  ["*", { rank: 2, apply: (left, right) => left * right }],
  ["/", { rank: 2, apply: (left, right) => left / right }],
  ["%", { rank: 2, apply: (left, right) => left % right }],
  ["^", { rank: 4, apply: (left, right) => left ** right }],
]);
/** Between products and powers: -2^2 is -4. */
const SIGN_RANK = 3;

/** Answers "What is 2+2*3", or an expression alone, with the expression and its value. */
export function calculate({ text }: { readonly text: string }): string | null {
  const signs = WORDS.reduce((rest, [word, sign]) => rest.replaceAll(word, sign), text.slice(0, READ_CHARS_MAX));
  const match = (ALONE.exec(signs) ?? ASKED.exec(signs))?.[1];
  // Signs after the last number belong to the sentence.
  const expression = match?.replace(/[\s.+\-*/%^(]+$/, "");
  if (expression === undefined || !OPERATION.test(expression) || DATE.test(expression)) return null;
  const tokens = expression.match(/\d+(?:\.\d*)?|\.\d+|\S/g) ?? [];
  const value = takeExpression(tokens, 0);
  if (value === null || tokens.length > 0) return null;
  return Number.isFinite(value) ? `${expression} = ${Number(value.toPrecision(12))}` : `${expression} has no value.`;
}

/** Takes an expression whose operations have at least this rank. Null if there is none. Nothing is run as code. */
function takeExpression(tokens: string[], rankMin: number): number | null {
  let value = takeOperand(tokens);
  for (;;) {
    const sign = tokens[0] ?? "";
    const operation = OPERATIONS.get(sign);
    if (value === null || operation === undefined || operation.rank < rankMin) return value;
    tokens.shift();
    // Powers are right-associative.
    const right = takeExpression(tokens, sign === "^" ? SIGN_RANK : operation.rank + 1);
    value = right === null ? null : operation.apply(value, right);
  }
}

function takeOperand(tokens: string[]): number | null {
  const token = tokens.shift() ?? "";
  if (token === "-" || token === "+") {
    const value = takeExpression(tokens, SIGN_RANK);
    return value === null ? null : token === "-" ? 0 - value : value;
  }
  if (token !== "(") return /\d/.test(token) ? Number(token) : null;
  const inner = takeExpression(tokens, 0);
  return tokens.shift() === ")" ? inner : null;
}
