import { rememberedJson } from "../../base/json/json-text.ts";
import { isRecord } from "../../base/json/records.ts";

/** An image, file or recording counts as a text of this length, whatever its size. */
const ATTACHMENT_CHARACTERS = 4000;
/** Shorter `data` members, and anything in shorter JSON, count as text. */
const ATTACHMENT_MIN = 1000;
const QUOTES = 2;

/**
 * The length of a value's JSON without escapes, with each base64 attachment counted as `ATTACHMENT_CHARACTERS`. Reads
 * no text, so that megabytes cost no more than a word.
 */
export function shownCharacters(value: unknown): number {
  const remembered = typeof value === "object" && value !== null ? rememberedJson(value) : null;
  // Items read from the store keep their JSON.
  return remembered !== null && remembered.length < ATTACHMENT_MIN ? remembered.length : charactersOf(value, "");
}

function charactersOf(value: unknown, name: string): number {
  if (typeof value === "string") return isAttachment(value, name) ? ATTACHMENT_CHARACTERS : value.length + QUOTES;
  let characters = 1; // A comma follows each member but the last, and two brackets enclose all.
  if (Array.isArray(value)) {
    for (const element of value) characters += charactersOf(element, "") + 1;
  } else if (isRecord(value)) {
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (member !== undefined) characters += key.length + QUOTES + 1 + charactersOf(member, key) + 1;
    }
  } else return String(value).length;
  return Math.max(characters, 2);
}

function isAttachment(text: string, name: string): boolean {
  return text.startsWith("data:") || (name === "data" && text.length >= ATTACHMENT_MIN);
}
