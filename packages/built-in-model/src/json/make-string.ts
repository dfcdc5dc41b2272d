import { shorten } from "../tokens.ts";
import { type TextOptions, writePattern } from "../write-pattern.ts";
import type { Hints } from "./hints.ts";
import { numberOr, type SchemaObject, type ValueContext } from "./schemas.ts";

const SENTENCE_CHARS_MAX = 120;

/** Samples of formats. Different positions give different texts. */
const SAMPLES: Readonly<Record<string, (position: number, suffix: string) => string>> = {
  date: (position) => dateAfter("2026-01-01", position),
  "date-time": (position) => `${dateAfter("2026-01-15", position)}T12:00:00Z`,
  time: (position) => `${new Date(Date.UTC(2026, 0, 1, 12, position)).toISOString().slice(11, 19)}Z`,
  duration: (position) => `P${position + 1}D`,
  email: (_, suffix) => `user${suffix}@example.com`,
  uuid: (position) => `00000000-0000-4000-8000-${String(position + 1).padStart(12, "0")}`,
  uri: (_, suffix) => `https://example.com/${suffix}`,
  hostname: (_, suffix) => `host${suffix}.example.com`,
  ipv4: (position) => `192.0.2.${1 + (position % 254)}`,
  ipv6: (position) => `2001:db8::${(position + 1).toString(16)}`,
};

/** What properties with such names usually contain. The first match for which the message has a value is used. */
const MEANINGS: readonly (readonly [RegExp, (hints: Hints) => string | undefined])[] = [
  [/e-?mail/i, ({ emails }) => emails[0]],
  [/ur[il]|link|website/i, ({ urls }) => urls[0]],
  [/date|day|deadline/i, ({ dates }) => dates[0]],
  [/city|location|place|town|country|region|address|destination|origin|timezone/i, ({ places }) => places[0]],
  [
    /query|question|prompt|text|message|input|content|request|search|summary|body/i,
    ({ quoted, text }) => quoted[0] ?? sentence(text),
  ],
  [/name|title|label|subject|person|who/i, ({ names, quoted }) => names[0] ?? quoted[0]],
];

/**
 * A string that fits the format or the pattern, or comes from the message and is cut or padded to the allowed length.
 */
export function makeString({ format, pattern, minLength, maxLength }: SchemaObject, context: ValueContext): string {
  const { budget, hints, position: variant } = context;
  const sample = typeof format === "string" ? sampleOf(format, context) : undefined;
  if (sample !== undefined) return sample;
  const max = Math.min(numberOr(maxLength, Infinity), Math.max(0, budget.charactersLeft));
  const options = { min: Math.min(numberOr(minLength, 0), max), max, variant };
  const patternText = typeof pattern === "string" ? writePattern(pattern, options, budget) : null;
  // Elements of an array get the values of a series in the message, in their order.
  const listed = variant === 0 || hints.chosen !== null ? undefined : hints.series[variant];
  const fitting =
    listed === undefined ? fitLength(naturalText(context), options) : fitLength(listed, { ...options, variant: 0 });
  const text = patternText ?? fitting;
  budget.charactersLeft -= text.length;
  return text;
}

/** A string of the format, taken from the message if possible; undefined for a format that the engine does not know. */
function sampleOf(format: string, { hints, position }: ValueContext): string | undefined {
  if (!Object.hasOwn(SAMPLES, format)) return undefined;
  const dateTimes = hints.dates.map((date) => `${date}T12:00:00Z`);
  const found = { email: hints.emails, uri: hints.urls, date: hints.dates, "date-time": dateTimes };
  const values = [...new Set(Object.entries(found).find(([kind]) => kind === format)?.[1])];
  return values[position] ?? SAMPLES[format]?.(position, position === 0 ? "" : String(position + 1));
}

/**
 * Cuts or pads to a length in code points, as JSON Schema counts. A number at the end makes elements of an array
 * differ.
 */
function fitLength(text: string, { min, max, variant }: TextOptions): string {
  const number = variant === 0 ? "" : ` ${variant + 1}`;
  const mark = number.slice(Math.max(0, number.length - max));
  const characters = Array.from(text).slice(0, max - mark.length);
  const filler = Array.from(text === "" ? "text " : `${text} `);
  while (characters.length + mark.length < min) characters.push(filler[characters.length % filler.length] ?? " ");
  return characters.join("") + mark;
}

function naturalText({ name, hints }: ValueContext): string {
  const meant = MEANINGS.filter(([names]) => names.test(name)).map(([, pick]) => pick(hints));
  const values = [hints.chosen ?? undefined, ...meant, hints.series[0], hints.quoted[0], hints.places[0]];
  return values.find((value) => value !== undefined) ?? sentence(hints.text) ?? (name === "" ? "text" : name);
}

/** The whole message; undefined if it is empty. */
function sentence(text: string): string | undefined {
  return text.trim() === "" ? undefined : shorten(text, SENTENCE_CHARS_MAX);
}

function dateAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
}
