import type { EngineModel, EngineModule, TokenBias } from "../engine-api.ts";

/** Tokens that end JSON soon, with what is added to their scores (logits). */
export interface ClosingBiases {
  /** Within a string: what ends it. */
  readonly inString: TokenBias;
  /** Elsewhere: ends of lists and objects, the smallest values, and what leads to the next member. */
  readonly elsewhere: TokenBias;
}

const MARKS_MAX = 4;
/** More than any model's own score, so that the grammar alone says whether the token is allowed. */
const STRONG_LOGIT = 100;
const LONGER_LOGIT = 5;
/** The smallest values, and then a list that can still be ended, before one that begins with an item. */
const LESS_PREFERRED: readonly (readonly [text: string, logit: number])[] = [
  ...['""', "[]", "{}"].flatMap((text) => [text, ` ${text}`]).map((text) => [text, 80] as const),
  ...["null", " null"].map((text) => [text, 70] as const),
  ...["[", " [", "{", " {"].map((text) => [text, 60] as const),
  [",", 40],
];

export function closingBiases({ TokenBias }: Pick<EngineModule, "TokenBias">, model: EngineModel): ClosingBiases {
  const inString = TokenBias.for(model);
  const elsewhere = TokenBias.for(model);
  const prefer = (bias: TokenBias, text: string, logit: number): void => {
    const tokens = model.tokenize(text, false, "trimLeadingSpace");
    if (tokens.length === 1) bias.set([...tokens], { logit });
  };
  for (const text of marksUpTo(MARKS_MAX)) {
    const logit = STRONG_LOGIT + LONGER_LOGIT * text.length;
    if (text.startsWith('"')) prefer(inString, text, logit);
    else prefer(elsewhere, text, logit);
  }
  prefer(inString, '",', STRONG_LOGIT);
  for (const [text, logit] of LESS_PREFERRED) prefer(elsewhere, text, logit);
  return { inString, elsewhere };
}

/** All texts of closing marks, at most this long. A quote can only be the first. */
function marksUpTo(length: number): readonly string[] {
  if (length === 1) return ['"', "]", "}"];
  const shorter = marksUpTo(length - 1);
  return [...new Set(shorter.flatMap((text) => [text, `${text}]`, `${text}}`]))];
}

const SPARE_TOKENS = 16;
/** The end of an object with one more member, such as `, "label": ""}`. */
const LEVEL_TOKENS = 12;

/** Follows JSON as it is written, to know how much it takes to end it. */
export class OpenJson {
  /** About the tokens of the smallest object of the schema. */
  readonly #schemaTokens: number;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(schemaTokens: number) {
    this.#schemaTokens = schemaTokens;
  }

  get isInString(): boolean {
    return this.#isInString;
  }

  /** How many tokens the rest should have, to end well. */
  get tokensToEnd(): number {
    return SPARE_TOKENS + this.#schemaTokens + LEVEL_TOKENS * this.#depth;
  }

  add(text: string): void {
    for (const character of text) this.#step(character);
  }

  #step(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString && character === "\\") this.#isEscaped = true;
    else if (character === '"') this.#isInString = !this.#isInString;
    else if (this.#isInString) return;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") this.#depth -= 1;
  }
}
