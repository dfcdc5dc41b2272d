import { formattedText } from "./formatted-text.ts";
import { type Making, numberOr, type SchemaObject } from "./making.ts";
import { naturalText } from "./natural-text.ts";
import { writePattern } from "./write-pattern.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** A string by format, by pattern, or out of the message; cut or filled to the length that the schema asks for. */
export function makeString(schema: SchemaObject, making: Making): string {
  const { budget, position } = making;
  const { format, pattern } = schema;
  const room = Math.max(0, budget.charactersLeft);
  const min = Math.min(numberOr(schema["minLength"], 0), room);
  const max = Math.min(numberOr(schema["maxLength"], Infinity), room);
  const formatted = typeof format === "string" ? formattedText(format, making) : null;
  if (formatted !== null) return formatted;
  const written = typeof pattern === "string" ? writePattern(pattern, { min, max, variant: position }, budget) : null;
  const text =
    written ?? ofSeries(making, min, max) ?? fitLength(naturalText(making.name, making.hints), min, max, position);
  budget.charactersLeft -= text.length;
  return text;
}

/** Elements of an array take the values that the message names one after the other. */
function ofSeries({ hints, position }: Making, min: number, max: number): string | null {
  const value = position === 0 || hints.chosen !== null ? undefined : hints.series[position];
  const length = Array.from(value ?? "").length;
  return value !== undefined && length >= min && length <= max ? value : null;
}

/** Counts code points, as JSON Schema does. The position at the end keeps elements of an array apart. */
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
