import { Slices } from "../limits/slices.ts";
import { rememberedJson, rememberJson } from "./json-text.ts";

/** Weight of a value that is written at once: one or two milliseconds of work at most. */
const SMALL_WEIGHT = 256 * 1024;
/** Weight of the parts of larger values. Each level of a value is weighed up to this limit, so it must be less. */
const PART_WEIGHT = 64 * 1024;
/** Parts are yielded once they have at least this total length, because each is written to a socket separately. */
const MADE_CHARACTERS_MIN = 64 * 1024;
/** Characters of one text that are written at once. */
const PART_CHARACTERS = 256 * 1024;
/** Weight of a member without its text, in characters of text that take as long to write. */
const MEMBER_WEIGHT = 24;

/**
 * Writes compact JSON as `JSON.stringify` does, or returns the cached text. Large values take several turns of the
 * event loop.
 */
export async function writeJson(value: object): Promise<string> {
  const json = await writeJsonParts(value);
  return typeof json === "string" ? json : json.join("");
}

/**
 * The same, but a long text that is not cached as consecutive parts, because joining them takes long as well. Only long
 * strings are cut.
 */
export async function writeJsonParts(value: object): Promise<string | readonly string[]> {
  const json = rememberedJson(value);
  if (json !== null) return json;
  if (isSmall(value)) return JSON.stringify(value);
  return await collectParts(value, 0, (part) => part);
}

/** The JSON in UTF-8, as consecutive parts. `indent` is the number of spaces per level; 0 for compact JSON. */
export async function writeJsonBytes(value: unknown, indent = 0): Promise<readonly Buffer[]> {
  if (isSmall(value)) return [Buffer.from(JSON.stringify(value, null, indent))];
  return await collectParts(value, indent, (part) => Buffer.from(part));
}

/** Caches the JSON of a value that must not change afterwards. */
export async function rememberInSlices(value: object): Promise<void> {
  rememberJson(value, await writeJson(value));
}

async function collectParts<Part>(value: unknown, indent: number, make: (part: string) => Part): Promise<Part[]> {
  const slices = new Slices();
  const parts: Part[] = [];
  let text = "";
  for (const part of new PartWriter(indent).parts(value, "\n")) {
    text += part;
    if (text.length >= MADE_CHARACTERS_MIN) {
      parts.push(make(text));
      text = "";
    }
    await slices.pause();
  }
  if (text !== "") parts.push(make(text));
  return parts;
}

/** Whether a value is small enough to be written at once. */
export function isSmall(value: unknown): boolean {
  return weightOf(value, SMALL_WEIGHT) <= SMALL_WEIGHT;
}

/** Known lower bounds of the weights of large values. */
type LeastWeights = Map<object, number>;

/** Lighter values are weighed again each time. */
const NOTED_WEIGHT_MIN = 1024;

/** Estimates what it takes to write a value. Stops early once the estimate exceeds `most`. */
function weightOf(value: unknown, most: number, leastWeights?: LeastWeights): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return MEMBER_WEIGHT;
  const least = leastWeights?.get(value) ?? 0;
  if (least > most) return least;
  const weight = Array.isArray(value)
    ? weightOfList(value, most, leastWeights)
    : weightOfMembers(value, most, leastWeights);
  if (weight >= NOTED_WEIGHT_MIN) leastWeights?.set(value, weight);
  return weight;
}

function weightOfList(list: readonly unknown[], most: number, leastWeights?: LeastWeights): number {
  let weight = 0;
  for (const element of list) {
    weight += MEMBER_WEIGHT + weightOf(element, most - weight, leastWeights);
    if (weight > most) break;
  }
  return weight;
}

/** Iterates over names, because a list of the values of many small objects takes several times as long. */
function weightOfMembers(members: object, most: number, leastWeights?: LeastWeights): number {
  let weight = 0;
  for (const name in members) {
    weight += MEMBER_WEIGHT + weightOf(Reflect.get(members, name), most - weight, leastWeights);
    if (weight > most) break;
  }
  return weight;
}

/** Writes JSON part by part. `line` is always a line break with the white space before the current level. */
class PartWriter {
  readonly #indent: number;
  /** Without it, each level would list the many members of a large object again, which takes a millisecond. */
  readonly #weights: LeastWeights = new Map();

  constructor(indent: number) {
    this.#indent = indent;
  }

  *parts(value: unknown, line: string): Generator<string> {
    if (weightOf(value, PART_WEIGHT, this.#weights) <= PART_WEIGHT) yield this.#whole(value, line);
    else yield* this.#partsOfLarge(value, line);
  }

  *#partsOfLarge(value: unknown, line: string): Generator<string> {
    if (typeof value === "string") yield* partsOfText(value);
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
      const end = this.#endOfRun(list.length, start, (index) => list[index]);
      if (start > 0) yield ",";
      if (end === start + 1) {
        yield this.#before(inner);
        yield* this.parts(list[start] ?? null, inner);
      } else yield this.#whole(list.slice(start, end), line).slice(1, -1 - this.#before(line).length);
      start = end;
    }
    yield `${this.#before(line)}]`;
  }

  /** The same for members. */
  *#partsOfObject(members: readonly (readonly [string, unknown])[], line: string): Generator<string> {
    const inner = this.#inner(line);
    let before = "{";
    for (let start = 0; start < members.length; ) {
      const end = this.#endOfRun(members.length, start, (index) => members[index]?.[1]);
      const run = members.slice(start, end).filter(([, member]) => member !== undefined);
      start = end;
      const [only] = run;
      if (only === undefined) continue;
      yield before;
      before = ",";
      if (run.length > 1)
        yield run.map(([name, member]) => this.#name(name, inner) + this.#whole(member, inner)).join(",");
      else {
        yield this.#name(only[0], inner);
        yield* this.parts(only[1], inner);
      }
    }
    yield before === "{" ? "{}" : `${this.#before(line)}}`;
  }

  #name(name: string, line: string): string {
    return `${this.#before(line)}${JSON.stringify(name)}:${this.#indent === 0 ? "" : " "}`;
  }

  /** The end of a run of elements that together are small. The run has at least one element. */
  #endOfRun(length: number, start: number, elementAt: (index: number) => unknown): number {
    let weight = 0;
    let end = start;
    while (end < length) {
      weight += MEMBER_WEIGHT + weightOf(elementAt(end), PART_WEIGHT - weight, this.#weights);
      if (weight > PART_WEIGHT) break;
      end++;
    }
    return Math.max(end, start + 1);
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
