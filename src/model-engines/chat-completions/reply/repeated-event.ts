import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { JsonObject } from "../../model-server/json-values.ts";

/** Longer events are unsuitable as examples. */
const EXAMPLE_CHARS_MAX = 4096;
/** The maximum depth of the text in a chunk. */
const DEPTH_MAX = 8;
/** A slice of at least this length refers to its source text in V8, which stays in memory. */
const SLICE_CHARS_MIN = 13;

const DATA = "data:";
const QUOTE = 34;
const BACKSLASH = 92;
const FIRST_PRINTABLE = 32;

/** The beginning of a text that is not empty, up to its opening quote. */
const TEXT_BEGIN = /"(?:content|reasoning_content|reasoning|arguments|text)": ?"(?!")/;

/**
 * Most events of an answer differ from the previous one in a single text. Such an event need not be parsed: if
 * everything around the text is equal, its chunk is the example's chunk with another text.
 */
export class RepeatedEvent {
  /** The chunk of the latest event found by `read`. The next call changes it. */
  readonly chunk: JsonObject;
  /** The event up to its text, including the opening quote. */
  readonly #before: string;
  /** The event from the closing quote on. */
  readonly #behind: string;
  readonly #place: TextPlace;

  private constructor(chunk: JsonObject, [before, behind]: readonly [string, string], place: TextPlace) {
    this.chunk = chunk;
    this.#before = before;
    this.#behind = behind;
    this.#place = place;
  }

  /**
   * Takes a complete event as the example, with its final empty line. Null if it is unsuitable. `chunk` has a
   * meaningless text until an event is read.
   */
  static like(event: string): RepeatedEvent | null {
    if (event.length > EXAMPLE_CHARS_MAX || !event.startsWith(DATA) || event.indexOf("\n") !== event.length - 2)
      return null;
    const match = TEXT_BEGIN.exec(event);
    if (match === null || event.includes("\r")) return null;
    const begin = match.index + match[0].length;
    const end = endOfText(event, begin);
    if (end === -1) return null;
    // Longer than any text of the event, so it is found only where it was inserted.
    const mark = "x".repeat(event.length);
    const chunk = jsonOrUndefined(`${event.slice(DATA.length, begin)}${mark}${event.slice(end)}`);
    const place = findTextPlace(mark, chunk, DEPTH_MAX);
    if (!isRecord(chunk) || place === null) return null;
    return new RepeatedEvent(chunk, [copyOf(event.slice(0, begin)), copyOf(event.slice(end))], place);
  }

  /**
   * Reads the event at `at` into `chunk`, and returns its end; −1 if it differs from the example in more than its text,
   * or is incomplete.
   */
  read(text: string, at: number): number {
    const begin = at + this.#before.length;
    if (text.slice(at, begin) !== this.#before) return -1; // Faster than `startsWith`.
    const end = endOfText(text, begin);
    if (end === -1 || !text.startsWith(this.#behind, end)) return -1;
    const value = unescapeText(text.slice(begin, end));
    if (value === null) return -1;
    this.#place.holder[this.#place.name] = value;
    return end + this.#behind.length;
  }
}

interface TextPlace {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

/** The position of a text in a parsed chunk. */
function findTextPlace(text: string, value: unknown, depth: number): TextPlace | null {
  if (depth === 0 || typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (member === text) return isRecord(value) ? { holder: value, name } : null;
    const place = findTextPlace(text, member, depth - 1);
    if (place !== null) return place;
  }
  return null;
}

/** The position of a JSON string's closing quote; −1 if the string is incomplete or contains a control character. */
function endOfText(text: string, begin: number): number {
  for (let at = begin; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < FIRST_PRINTABLE) return -1;
    if (code === BACKSLASH) at += 1;
  }
  return -1;
}

/** The text of a JSON string's inside; null if it is invalid JSON. */
function unescapeText(inside: string): string | null {
  if (inside.length < SLICE_CHARS_MIN && !inside.includes("\\")) return inside;
  const text = jsonOrUndefined(`"${inside}"`);
  return typeof text === "string" ? text : null;
}

/** A separate copy, which does not keep its source in memory and is compared faster. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
