/** Characters of a string without bounds of its own, digits of a number, and entries of a list or an open object. */
export const CHARACTERS_MAX = 400;
export const DIGITS_MAX = 15;
export const ENTRIES_MAX = 32;
/** How deep JSON without a schema is nested. */
const FREE_DEPTH = 3;
const FREE_ENTRIES_MAX = 16;

/** One blank after colons and commas, and none else: with free blanks, small models write blank lines for ever. */
export const COLON = '": "';
export const COMMA = '", "';

/**
 * The rules of a grammar in the notation of llama.cpp. A body that occurs again is one rule, and every repetition
 * with bounds stands in a rule of its own: the engine refuses bounds within bounds.
 */
export class GrammarRules {
  readonly #names = new Map<string, string>();
  readonly #bodies = new Map<string, string>();

  /** The name of a rule with this body. */
  add(body: string): string {
    const earlier = this.#names.get(body);
    if (earlier !== undefined) return earlier;
    const name = this.reserve();
    this.#names.set(body, name);
    this.#bodies.set(name, body);
    return name;
  }

  /** A name whose body follows by `define`: for rules that contain themselves. */
  reserve(): string {
    const name = `r${this.#bodies.size}`;
    this.#bodies.set(name, '""');
    return name;
  }

  define(name: string, body: string): void {
    this.#bodies.set(name, body);
  }

  /** The whole grammar, which begins with this expression. */
  text(root: string): string {
    return [`root ::= ${root}`, ...[...this.#bodies].map(([name, body]) => `${name} ::= ${body}`)].join("\n");
  }

  /** A character of a JSON string, as it is written there. */
  character(): string {
    return this.add('[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\/bfnrt]');
  }

  string(min = 0, max = CHARACTERS_MAX): string {
    return this.add(`"\\"" ${this.character()}{${min},${max}} "\\""`);
  }

  integer(): string {
    return this.add(`"-"? ("0" | [1-9] [0-9]{0,${DIGITS_MAX - 1}})`);
  }

  number(decimalsMax = DIGITS_MAX): string {
    return this.add(`${this.integer()} ("." [0-9]{1,${decimalsMax}})?`);
  }

  boolean(): string {
    return this.add('"true" | "false"');
  }

  /** JSON of any shape. */
  value(depth = FREE_DEPTH): string {
    const scalars = `${this.string()} | ${this.number()} | ${this.boolean()} | "null"`;
    if (depth === 0) return this.add(scalars);
    return this.add(`${scalars} | ${this.object(depth)} | ${this.list(this.value(depth - 1), 0, FREE_ENTRIES_MAX)}`);
  }

  object(depth = FREE_DEPTH): string {
    return this.map(this.value(depth - 1), 0, FREE_ENTRIES_MAX);
  }

  /** An object with any names. */
  map(value: string, min: number, max: number): string {
    const pair = this.add(`${this.string(1, 64)} ${COLON} ${value}`);
    return this.add(`"{" ${this.series(pair, min, max)} "}"`);
  }

  list(item: string, min: number, max: number): string {
    return this.add(`"[" ${this.series(item, min, max)} "]"`);
  }

  /** Entries with commas between them. */
  series(entry: string, min: number, max: number): string {
    if (max === 0) return '""';
    const next = this.add(`${COMMA} ${entry}`);
    const most = this.add(`${entry} ${next}{${Math.max(0, min - 1)},${max - 1}}`);
    return min === 0 ? `(${most})?` : most;
  }
}

/** A text as a terminal of the grammar. */
export function literal(text: string): string {
  const safe = text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return `"${safe}"`;
}

/** JSON with one blank after colons and commas. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${spacedJson(member)}`)
    .join(", ")}}`;
}
