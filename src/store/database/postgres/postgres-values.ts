import { assert } from "@antiphon/base/assert.ts";
import pg from "pg";

/** The numbers of PostgreSQL types in its system catalogue. */
const BOOLEAN = 16;
const INT8 = 20;
const TEXT = 25;
const NUMERIC = 1700;

/**
 * Precedes a digit that replaces a character that PostgreSQL texts cannot contain. Clients choose some ids and names,
 * and SQLite stores them unchanged. It is a private-use character, so it is rare in real texts.
 */
const ESCAPE = "\uE000";
const NEEDS_ESCAPE = /[\0\uE000]/g;
const ESCAPED = /\uE000(.)/g;

/** Reads values as in SQLite: whole numbers as numbers, and booleans as 0 or 1. */
export const READ_AS_SQLITE = {
  getTypeParser(type: number, format?: "text" | "binary"): (value: string) => unknown {
    switch (type) {
      case INT8:
      case NUMERIC:
        return wholeNumber;
      case BOOLEAN:
        return (value) => (value === "t" ? 1 : 0);
      case TEXT:
        return unescapeText;
      default:
        return pg.types.getTypeParser(type, format);
    }
  },
};

/** Converts a parameter for the driver. */
export function writtenValue(value: unknown): unknown {
  if (typeof value === "string") return writtenText(value);
  if (Array.isArray(value)) return value.map(writtenValue);
  return value;
}

function writtenText(text: string): string {
  if (!text.includes("\0") && !text.includes(ESCAPE)) return text;
  return text.replace(NEEDS_ESCAPE, (character) => ESCAPE + (character === "\0" ? "0" : "1"));
}

function unescapeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replace(ESCAPED, (_, digit) => (digit === "0" ? "\0" : ESCAPE));
}

function wholeNumber(text: string): number {
  const number = Number(text);
  assert(Number.isSafeInteger(number), "stored numbers are whole and not too large");
  return number;
}
