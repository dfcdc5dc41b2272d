/** Values found in a message, for filling JSON. */
export interface Hints {
  readonly text: string;
  /** The words of the text in lower case, separated and surrounded by single spaces, to search for whole words. */
  readonly spoken: string;
  /** If set, every free text gets this value. */
  readonly chosen: string | null;
  readonly quoted: readonly string[];
  /** Names that follow words such as "in". */
  readonly places: readonly string[];
  /** Names that follow words such as "called". */
  readonly names: readonly string[];
  /** Distinct values that are joined by "and" or commas. */
  readonly series: readonly string[];
  readonly numbers: readonly number[];
  readonly emails: readonly string[];
  readonly urls: readonly string[];
  readonly dates: readonly string[];
}

const READ_CHARS_MAX = 4000;
const HITS_MAX = 50;
const SPOKEN_CHARS_MAX = 100;
const NAME = String.raw`\p{Lu}[\p{L}\p{M}\p{N}'’-]{0,40}(?: \p{Lu}[\p{L}\p{M}\p{N}'’-]{0,40}){0,3}`;
const JOIN = String.raw`(?:, and |, | and | & )`;
const NAMES = `${NAME}(?:${JOIN}${NAME}){0,20}`;
const PLACE_WORD = String.raw`\b(?:in|for|at|of|from|to|about|near|between)`;
const PLACES = new RegExp(`${PLACE_WORD} (${NAMES})`, "gu");
const LOWERCASE_PLACE = /\b(?:in|near)\s+(?!the\b|a\b|an\b|my\b|your\b|this\b|that\b)(\p{Ll}[\p{L}'’-]{2,40})/gu;
const JOINED_NAMES = new RegExp(`${NAME}(?:${JOIN}${NAME}){1,20}`, "gu");
const QUOTED = /"([^"]{1,200})"|“([^”]{1,200})”|(?<=^|[\s(])'([^']{1,200})'(?!\w)/gu;

export function guessHints(message: string): Hints {
  const text = message.slice(0, READ_CHARS_MAX);
  const quoted = findAll(text, QUOTED);
  const lists = findAll(text, PLACES).map(splitSeries);
  const placeSeries = lists.flat();
  const joined = findAll(text, JOINED_NAMES).flatMap(splitSeries);
  const series = [placeSeries, quoted, joined].find((values) => values.length > 1) ?? [];
  return {
    text,
    spoken: plainWords(text),
    chosen: null,
    quoted,
    places: placeSeries.length > 0 ? placeSeries : findAll(text, LOWERCASE_PLACE),
    names: findAll(text, new RegExp(`\\b(?:called|named|name is|titled) (${NAME})`, "gu")),
    series: [...new Set(series)],
    numbers: findAll(text, /(?<![\p{L}\d.])(-?\d{1,15}(?:\.\d{1,9})?)/gu).map(Number),
    emails: findAll(text, /([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})/g),
    urls: findAll(text, /(https?:\/\/[^\s<>"'`{}|\\^]{1,500}[^\s<>"'`{}|\\^.,;:!?)])/g),
    dates: findAll(text, /\b(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]))\b/g),
  };
}

/** The words in lower case, separated and surrounded by single spaces: "Turn ON_fast!" becomes " turn on fast ". */
export function plainWords(text: string): string {
  return ` ${(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(" ")} `;
}

/** Whether the message contains these words in this order. Longer values are not searched for. */
export function isSpoken(words: string, { spoken }: Hints): boolean {
  return words.length <= SPOKEN_CHARS_MAX && spoken.includes(plainWords(words));
}

function findAll(text: string, pattern: RegExp): string[] {
  const hits = [...text.matchAll(pattern)].slice(0, HITS_MAX);
  return hits.map((hit) => hit.slice(1).find((group) => group !== undefined) ?? hit[0]);
}

function splitSeries(names: string): string[] {
  return names.split(/, and |, | and | & /);
}
