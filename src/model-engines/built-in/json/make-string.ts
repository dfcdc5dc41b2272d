import { formattedText } from "./formatted-text.ts";
import { type Making, numberOr, type SchemaObject } from "./making.ts";
import { naturalText } from "./natural-text.ts";
import { writePattern } from "./write-pattern.ts";

/** Longer texts are never made, whatever the schema wants. */
const LENGTH_MAX = 20_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** A string by format, by pattern, or out of the message; cut or filled to the length that the schema asks for. */
export function makeString(schema: SchemaObject, making: Making): string {
  const min = Math.min(numberOr(schema["minLength"], 0), LENGTH_MAX);
  const max = Math.min(numberOr(schema["maxLength"], LENGTH_MAX), LENGTH_MAX);
  const { format, pattern } = schema;
  const formatted = typeof format === "string" ? formattedText(format, making) : null;
  if (formatted !== null) return formatted;
  const written = typeof pattern === "string" ? writePattern(pattern, { min, max, variant: making.position }) : null;
  return written ?? fitLength(naturalText(making.name, making), min, max, making.position);
}

/** Counts code points, as JSON Schema does. The position at the end keeps elements of an array apart. */
function fitLength(text: string, min: number, max: number, position: number): string {
  const mark = position === 0 ? "" : ` ${position + 1}`;
  if (mark.length >= max && position > 0) return (LETTERS[position % LETTERS.length] ?? "a").slice(0, max);
  const characters = [...text].slice(0, max - mark.length);
  const filler = [...(text === "" ? "text " : `${text} `)];
  while (characters.length + mark.length < min) characters.push(filler[characters.length % filler.length] ?? " ");
  return characters.join("") + mark;
}
