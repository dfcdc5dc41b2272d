/** Finds words in every script, even without blanks between them. */
const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** The characters with one byte, up to the end of their line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are meant.
const ONE_BYTE = /[\0-\t\v-\x7f]*/y;

/** Kinds of characters, as bits. */
const LETTER = 1;
const DIGIT = 2;
const UNDERSCORE = 4;
/** The kind of each character with one byte. */
const KINDS = kindsOf([
  ["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", LETTER],
  ["0123456789", DIGIT],
  ["_", UNDERSCORE],
]);
/** The kinds that a mark joins to one word, if they stand on both of its sides. */
const JOINED_KINDS = kindsOf([
  [":", LETTER],
  [".'", LETTER | DIGIT],
  [",;", DIGIT],
]);

/** What stands between words, other than a single mark that may join them. */
export const BREAK = "";

/** The maximum segments at once, because a line has no maximum. */
const TOGETHER_MAX = 512;

/**
 * The words of a text, and what is between them: `-`, `/` or `BREAK`. Some come together, since each step of a
 * generator costs more than a word. The boundaries are those of Unicode's rules for words (UAX #29), which for lines of
 * ASCII are applied here, because the segmenter of the runtime takes several times as long.
 */
export function* segmentsOf(text: string): Generator<readonly string[], void> {
  for (let start = 0; start < text.length; ) {
    ONE_BYTE.lastIndex = start;
    ONE_BYTE.test(text);
    const asciiEnd = ONE_BYTE.lastIndex;
    const isAscii = asciiEnd === text.length || text[asciiEnd] === "\n";
    const lineEnd = isAscii ? asciiEnd : text.indexOf("\n", asciiEnd);
    const end = lineEnd < 0 ? text.length : lineEnd;
    if (isAscii) yield* asciiSegments(text, start, end);
    else yield* anySegments(text.slice(start, end));
    start = end + 1;
  }
}

function* anySegments(line: string): Generator<readonly string[], void> {
  let segments: string[] = [];
  for (const { segment, isWordLike } of SEGMENTER.segment(line)) {
    segments.push(isWordLike === true ? segment : markOf(segment));
    if (segments.length < TOGETHER_MAX) continue;
    yield segments;
    segments = [];
  }
  yield [...segments, BREAK];
}

function* asciiSegments(text: string, from: number, to: number): Generator<readonly string[], void> {
  let segments: string[] = [];
  for (let start = from; start < to; ) {
    const end = wordEnd(text, start, to);
    const segment = text.slice(start, Math.max(end, start + 1));
    segments.push(end === start || segment === "_" ? markOf(segment) : segment);
    start += segment.length;
    if (segments.length < TOGETHER_MAX) continue;
    yield segments;
    segments = [];
  }
  segments.push(BREAK);
  yield segments;
}

function markOf(segment: string): string {
  return segment === "-" || segment === "/" ? segment : BREAK;
}

/** The end of the word that begins at `start`, in a line that ends at `to`. */
function wordEnd(text: string, start: number, to: number): number {
  for (let at = start; at < to; at++) {
    const code = text.charCodeAt(at);
    if ((KINDS[code] ?? 0) !== 0) continue;
    const joinedKinds = JOINED_KINDS[code] ?? 0;
    if (joinedKinds === 0 || at === start) return at;
    const before = KINDS[text.charCodeAt(at - 1)] ?? 0;
    const after = KINDS[text.charCodeAt(at + 1)] ?? 0;
    if ((joinedKinds & before & after) === 0) return at;
  }
  return to;
}

function kindsOf(characters: readonly (readonly [string, number])[]): Uint8Array {
  const kinds = new Uint8Array(128);
  for (const [some, kind] of characters) for (const character of some) kinds[character.charCodeAt(0)] = kind;
  return kinds;
}
