import { shorten } from "../tokens.ts";
import { formattedText } from "./formatted-text.ts";
import type { Hints } from "./hints.ts";
import { numberOr, type SchemaObject, type ValueContext } from "./value-context.ts";
import { writePattern } from "./write-pattern.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/**
 * A string that fits the format or the pattern, or comes from the message and is cut or padded to the allowed length.
 */
export function makeString(schema: SchemaObject, context: ValueContext): string {
  const { budget, position } = context;
  const { format, pattern } = schema;
  const room = Math.max(0, budget.charactersLeft);
  const min = Math.min(numberOr(schema["minLength"], 0), room);
  const max = Math.min(numberOr(schema["maxLength"], Infinity), room);
  const formatted = typeof format === "string" ? formattedText(format, context) : null;
  if (formatted !== null) return formatted;
  const written = typeof pattern === "string" ? writePattern(pattern, { min, max, variant: position }, budget) : null;
  const text =
    written ?? ofSeries(context, min, max) ?? fitLength(naturalText(context.name, context.hints), min, max, position);
  budget.charactersLeft -= text.length;
  return text;
}

/** Elements of an array get the values of a series in the message, in their order. */
function ofSeries({ hints, position }: ValueContext, min: number, max: number): string | null {
  const value = position === 0 || hints.chosen !== null ? undefined : hints.series[position];
  const length = Array.from(value ?? "").length;
  return value !== undefined && length >= min && length <= max ? value : null;
}

/**
 * Cuts or pads to a length in code points, as JSON Schema counts. A number at the end makes elements of an array
 * differ.
 */
function fitLength(text: string, min: number, max: number, position: number): string {
  const mark = position === 0 ? "" : ` ${position + 1}`;
  if (position > 0 && mark.length >= max)
    return LETTERS.charAt(position % LETTERS.length)
      .repeat(Math.max(1, min))
      .slice(0, max);
  const characters = Array.from(text).slice(0, max - mark.length);
  const filler = Array.from(text === "" ? "text " : `${text} `);
  while (characters.length + mark.length < min) characters.push(filler[characters.length % filler.length] ?? " ");
  return characters.join("") + mark;
}

const SENTENCE_CHARS_MAX = 120;

/** What properties with such names usually contain. The first match for which the message has a value is used. */
const MEANINGS: readonly (readonly [RegExp, (hints: Hints) => string | undefined])[] = [
  [/e-?mail/i, ({ emails }) => emails[0]],
  [/ur[il]|link|website/i, ({ urls }) => urls[0]],
  [/date|day|deadline/i, ({ dates }) => dates[0]],
  [/city|location|place|town|country|region|address|destination|origin|timezone/i, ({ places }) => places[0]],
  [
    /query|question|prompt|text|message|input|content|request|search|summary|body/i,
    ({ quoted, text }) => quoted[0] ?? whole(text),
  ],
  [/name|title|label|subject|person|who/i, ({ names, quoted }) => names[0] ?? quoted[0]],
];

function naturalText(name: string, hints: Hints): string {
  if (hints.chosen !== null) return hints.chosen;
  for (const [names, pick] of MEANINGS) {
    const found = names.test(name) ? pick(hints) : undefined;
    if (found !== undefined) return found;
  }
  return hints.series[0] ?? hints.quoted[0] ?? hints.places[0] ?? whole(hints.text) ?? (name === "" ? "text" : name);
}

function whole(text: string): string | undefined {
  return text.trim() === "" ? undefined : shorten(text, SENTENCE_CHARS_MAX);
}
