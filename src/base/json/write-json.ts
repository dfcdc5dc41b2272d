import { Slices } from "../limits/slices.ts";
import { rememberedJson } from "./json-text.ts";

/** Size in characters of a value that is written at once, and of the parts of larger values. */
const PART_CHARACTERS = 256 * 1024;
/** Assumed characters of a member without its text. */
const MEMBER_CHARACTERS = 4;

/**
 * Writes compact JSON as `JSON.stringify` does, or returns the cached text. Large values take several turns of the
 * event loop.
 */
export async function writeJson(value: object): Promise<string> {
  const remembered = rememberedJson(value);
  if (remembered !== null) return remembered;
  if (isSmall(value)) return JSON.stringify(value);
  return (await collected(value, 0, (part) => part)).join("");
}

/** The same in UTF-8, as consecutive parts. `indent` is the number of spaces per level; 0 for compact JSON. */
export async function writeJsonBytes(value: unknown, indent = 0): Promise<readonly Buffer[]> {
  if (isSmall(value)) return [Buffer.from(JSON.stringify(value, null, indent))];
  return await collected(value, indent, (part) => Buffer.from(part));
}

async function collected<Part>(value: unknown, indent: number, make: (part: string) => Part): Promise<Part[]> {
  const slices = new Slices();
  const made: Part[] = [];
  for (const part of new PartWriter(indent).parts(value, "\n")) {
    made.push(make(part));
    await slices.pause();
  }
  return made;
}

/** Whether a value is small enough to be written at once. */
export function isSmall(value: unknown): boolean {
  return weightOf(value, PART_CHARACTERS) <= PART_CHARACTERS;
}

/** Estimates the length of a value's JSON. Stops early once the estimate exceeds `most`. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return MEMBER_CHARACTERS;
  let weight = 0;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    weight += MEMBER_CHARACTERS + weightOf(member, most - weight);
    if (weight > most) break;
  }
  return weight;
}

/** Writes JSON part by part. `line` is always a line break with the white space before the current level. */
class PartWriter {
  readonly #indent: number;

  constructor(indent: number) {
    this.#indent = indent;
  }

  *parts(value: unknown, line: string): Generator<string> {
    if (isSmall(value)) yield this.#whole(value, line);
    else if (typeof value === "string") yield* partsOfText(value);
    else if (Array.isArray(value)) yield* this.#partsOfList(value, line);
    else yield* this.#partsOfObject(Object.entries(value ?? {}), line);
  }

  #whole(value: unknown, line: string): string {
    const json = JSON.stringify(value, null, this.#indent);
    return this.#indent === 0 || line === "\n" ? json : json.replaceAll("\n", line); // Texts hold no raw line breaks.
  }

  /** Writes consecutive small elements together. */
  *#partsOfList(list: readonly unknown[], line: string): Generator<string> {
    const inner = this.#inner(line);
    yield "[";
    for (let start = 0; start < list.length; ) {
      const end = endOfRun(list, start);
      if (start > 0) yield ",";
      if (end === start + 1) {
        yield this.#before(inner);
        yield* this.parts(list[start] ?? null, inner);
      } else yield this.#whole(list.slice(start, end), line).slice(1, -1 - this.#before(line).length);
      start = end;
    }
    yield `${this.#before(line)}]`;
  }

  *#partsOfObject(members: readonly (readonly [string, unknown])[], line: string): Generator<string> {
    const inner = this.#inner(line);
    let before = "{";
    for (const [name, value] of members) {
      if (value === undefined) continue;
      yield `${before}${this.#before(inner)}${JSON.stringify(name)}:${this.#indent === 0 ? "" : " "}`;
      before = ",";
      yield* this.parts(value, inner);
    }
    yield before === "{" ? "{}" : `${this.#before(line)}}`;
  }

  #inner(line: string): string {
    return line + " ".repeat(this.#indent);
  }

  /** What precedes a value or a closing bracket on its own line; nothing in compact JSON. */
  #before(line: string): string {
    return this.#indent === 0 ? "" : line;
  }
}

/** Never cuts a surrogate pair, because its halves would be written as escapes. */
function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (let start = 0; start < text.length; ) {
    const end = start + PART_CHARACTERS;
    const cut = (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;
    yield JSON.stringify(text.slice(start, cut)).slice(1, -1);
    start = cut;
  }
  yield '"';
}

/** The end of a run of elements that together are small. The run has at least one element. */
function endOfRun(list: readonly unknown[], start: number): number {
  let weight = 0;
  let end = start;
  while (end < list.length) {
    weight += MEMBER_CHARACTERS + weightOf(list[end], PART_CHARACTERS - weight);
    if (weight > PART_CHARACTERS) break;
    end++;
  }
  return Math.max(end, start + 1);
}
