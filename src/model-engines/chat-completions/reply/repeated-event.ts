import { jsonOrUndefined } from "../../../base/json/read-json.ts";
import { isRecord } from "../../../base/json/records.ts";
import type { JsonObject } from "../json-values.ts";

/** Longer events are not taken as an example. */
const EXAMPLE_CHARS_MAX = 4096;
/** How deep in a chunk its text may stand. */
const DEPTH_MAX = 8;
/** A slice of at least this length refers to the text it was cut from in V8, and keeps all of it in memory. */
const SLICE_CHARS_MIN = 13;

const DATA = "data:";
const QUOTE = 34;
const BACKSLASH = 92;
const FIRST_PRINTABLE = 32;

/** The beginning of a text that is not empty, up to its opening quote. */
const TEXT_BEGIN = /"(?:content|reasoning_content|reasoning|arguments|text)": ?"(?!")/;

/**
 * Most events of an answer differ from the one before in a single text. Such an event need not be parsed: if all before
 * and behind that text is equal, its chunk is the chunk of the example with another text.
 */
export class RepeatedEvent {
  /** The chunk of the latest event that `read` has found. The next call changes it. */
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
   * Takes a whole event as the example, with the empty line that ends it. Null if it cannot be one. `chunk` has a
   * meaningless text until an event is read.
   */
  static like(event: string): RepeatedEvent | null {
    if (event.length > EXAMPLE_CHARS_MAX || !event.startsWith(DATA) || event.indexOf("\n") !== event.length - 2)
      return null;
    const found = TEXT_BEGIN.exec(event);
    if (found === null || event.includes("\r")) return null;
    const begin = found.index + found[0].length;
    const end = endOfText(event, begin);
    if (end === -1) return null;
    // Longer than any text of the event, so it is found only where it was put.
    const mark = "x".repeat(event.length);
    const chunk = jsonOrUndefined(`${event.slice(DATA.length, begin)}${mark}${event.slice(end)}`);
    const place = findTextPlace(mark, chunk, DEPTH_MAX);
    if (!isRecord(chunk) || place === null) return null;
    return new RepeatedEvent(chunk, [copyOf(event.slice(0, begin)), copyOf(event.slice(end))], place);
  }

  /**
   * Reads the event that begins at `at` into `chunk`, and returns where it ends; −1 if it differs from the example in
   * more than its text, or is not all there.
   */
  read(text: string, at: number): number {
    const begin = at + this.#before.length;
    if (text.slice(at, begin) !== this.#before) return -1; // Faster than `startsWith`.
    const end = endOfText(text, begin);
    if (end === -1 || !text.startsWith(this.#behind, end)) return -1;
    const value = unescaped(text.slice(begin, end));
    if (value === null) return -1;
    this.#place.holder[this.#place.name] = value;
    return end + this.#behind.length;
  }
}

interface TextPlace {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

/** The place of a text in a parsed chunk. */
function findTextPlace(text: string, value: unknown, depth: number): TextPlace | null {
  if (depth === 0 || typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (member === text) return isRecord(value) ? { holder: value, name } : null;
    const place = findTextPlace(text, member, depth - 1);
    if (place !== null) return place;
  }
  return null;
}

/** Where the closing quote of a JSON string stands; −1 if the string is not whole or holds a control character. */
function endOfText(text: string, begin: number): number {
  for (let at = begin; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code < FIRST_PRINTABLE) return -1;
    if (code === BACKSLASH) at += 1;
  }
  return -1;
}

/** The text that the inside of a JSON string means; null if it is no valid JSON. */
function unescaped(inside: string): string | null {
  if (inside.length < SLICE_CHARS_MIN && !inside.includes("\\")) return inside;
  const text = jsonOrUndefined(`"${inside}"`);
  return typeof text === "string" ? text : null;
}

/** A text of its own, which does not keep the one that it was cut from, and is compared faster. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
