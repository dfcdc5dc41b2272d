/**
 * A word of up to 16 characters, a single sign, or `{}`, with the white space before it. The reference also streams
 * `{}` as one token.
 */
const TOKEN = /\s*(?:\{\}|[\p{L}\p{M}\p{N}_'’]{1,16}|[^\s\p{L}\p{M}\p{N}_'’])|\s+/gu;
/** Longer texts are counted up to here and estimated beyond, so that a huge input is cheap to count. */
const COUNTED_CHARS_MAX = 100_000;
const CHARS_PER_TOKEN = 4;

/** The first `max` tokens of a text. Without `max`, joining them gives the text again. */
export function splitTokens(text: string, max = Infinity): string[] {
  const tokens: string[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    if (tokens.length >= max) break;
    tokens.push(token);
  }
  return tokens;
}

export function countTokens(text: string): number {
  const rest = Math.max(0, text.length - COUNTED_CHARS_MAX);
  return splitTokens(text.slice(0, COUNTED_CHARS_MAX)).length + Math.ceil(rest / CHARS_PER_TOKEN);
}

/** The text on one line, cut to at most `charsMax` code points. */
export function shorten(text: string, charsMax: number): string {
  // Leaves room for surrogate pairs and white space, without reading all of a huge text.
  const start = text.slice(0, charsMax * 4);
  const characters = [...start.replaceAll(/\s+/g, " ").trim()];
  const whole = characters.length <= charsMax && start.length === text.length;
  return whole
    ? characters.join("")
    : `${characters
        .slice(0, charsMax - 1)
        .join("")
        .trimEnd()}…`;
}
