const READ_CHARS_MAX = 4000;
const HITS_MAX = 50;
const SPOKEN_CHARS_MAX = 100;
const NAME = String.raw`\p{Lu}[\p{L}\p{M}\p{N}'’-]{0,40}(?: \p{Lu}[\p{L}\p{M}\p{N}'’-]{0,40}){0,3}`;
const JOIN = /, and |, | and | & /;
const PLACE_WORD = String.raw`\b(?:in|for|at|of|from|to|about|near|between)`;
const PLACES = new RegExp(`${PLACE_WORD} (${NAME}(?:(?:${JOIN.source})${NAME}){0,20})`, "gu");
const LOWERCASE_PLACE = /\b(?:in|near)\s+(?!the\b|a\b|an\b|my\b|your\b|this\b|that\b)(\p{Ll}[\p{L}'’-]{2,40})/gu;
const JOINED_NAMES = new RegExp(`${NAME}(?:(?:${JOIN.source})${NAME}){1,20}`, "gu");
const CALLED = new RegExp(`\\b(?:called|named|name is|titled) (${NAME})`, "gu");
const QUOTED = /"([^"]{1,200})"|“([^”]{1,200})”|(?<=^|[\s(])'([^']{1,200})'(?!\w)/gu;

/** Values found in a message, for filling JSON. */
export type Hints = ReturnType<typeof guessHints>;

/** If `chosen` is given, every free text gets this value. */
export function guessHints(message: string, chosen: string | null = null) {
  const text = message.slice(0, READ_CHARS_MAX);
  const found = (pattern: RegExp): readonly string[] => {
    const hits = [...text.matchAll(pattern)].slice(0, HITS_MAX);
    return hits.map((hit) => hit.slice(1).find((group) => group !== undefined) ?? hit[0]);
  };
  const quotations = found(QUOTED);
  const places = found(PLACES).flatMap((list) => list.split(JOIN));
  const names = found(JOINED_NAMES).flatMap((list) => list.split(JOIN));
  return {
    text,
    /** To search for whole words. */
    spoken: plainWords(text),
    chosen,
    quoted: quotations,
    places: places.length > 0 ? places : found(LOWERCASE_PLACE),
    names: found(CALLED),
    /** Distinct values that are joined by "and" or commas. */
    series: [...new Set([places, quotations, names].find((values) => values.length > 1))],
    numbers: found(/(?<![\p{L}\d.])(-?\d{1,15}(?:\.\d{1,9})?)/gu).map(Number),
    emails: found(/([\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})/g),
    urls: found(/(https?:\/\/[^\s<>"'`{}|\\^]{1,500}[^\s<>"'`{}|\\^.,;:!?)])/g),
    dates: found(/\b(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]))\b/g),
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
