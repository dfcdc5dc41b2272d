import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  '"': '"',
  "\\": "\\",
  "/": "/",
};
/**
 * Longer than `{"input": "` with reasonable white space. Arguments without it within this length have another shape.
 */
const OPENING_CHARS_MAX = 64;

/**
 * Decodes the arguments of a wrapped custom tool, `{"input":"…"}`, back into its free-form input while they arrive.
 * Arguments of another shape are delayed until the end.
 */
export class CustomInputReader {
  #phase: "opening" | "inside" | "closed" | "other" = "opening";
  #buffer = "";

  /** The next part of the input; may be empty. */
  feed(text: string): string {
    switch (this.#phase) {
      case "opening":
        return this.#open(this.#buffer + text);
      case "inside":
        return this.#decode(this.#buffer + text);
      case "closed":
        return "";
      case "other":
        this.#buffer += text;
        return "";
    }
  }

  /**
   * The rest of the input at the end of the arguments. An unfinished escape is dropped; arguments of another shape are
   * returned whole.
   */
  end(): string {
    const rest = this.#buffer;
    this.#buffer = "";
    if (this.#phase === "opening" || this.#phase === "other") return inputOf(rest);
    return this.#phase === "inside" && isHighSurrogate(rest.charCodeAt(0)) ? "\uFFFD" : "";
  }

  #open(text: string): string {
    const opening = OPENING.exec(text);
    if (opening !== null) {
      this.#phase = "inside";
      return this.#decode(text.slice(opening[0].length));
    }
    this.#buffer = text;
    if (text.length > OPENING_CHARS_MAX) this.#phase = "other";
    return "";
  }

  #decode(text: string): string {
    let result = "";
    let at = 0;
    while (at < text.length) {
      const next = nextSpecial(text, at);
      result += text.slice(at, next);
      if (next === text.length) break;
      if (text[next] === '"') {
        this.#phase = "closed";
        this.#buffer = "";
        return result;
      }
      const escape = readEscape(text, next);
      if (escape === null) return this.#keep(result, text.slice(next));
      result += escape.text;
      at = escape.end;
    }
    return this.#keep(result, "");
  }

  /** Delays an unfinished escape, and the first half of a surrogate pair before it, until the next piece. */
  #keep(text: string, rest: string): string {
    const last = text.charCodeAt(text.length - 1);
    if (!isHighSurrogate(last)) {
      this.#buffer = rest;
      return text;
    }
    this.#buffer = text.slice(-1) + rest;
    return text.slice(0, -1);
  }
}

function nextSpecial(text: string, from: number): number {
  const quote = text.indexOf('"', from);
  const backslash = text.indexOf("\\", from);
  return Math.min(quote === -1 ? text.length : quote, backslash === -1 ? text.length : backslash);
}

function readEscape(text: string, at: number): { text: string; end: number } | null {
  const kind = text[at + 1];
  if (kind === undefined) return null;
  if (kind !== "u") return { text: SIMPLE_ESCAPES[kind] ?? kind, end: at + 2 };
  if (text.length < at + 6) return null;
  const code = Number.parseInt(text.slice(at + 2, at + 6), 16);
  return { text: Number.isNaN(code) ? "\uFFFD" : String.fromCharCode(code), end: at + 6 };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function inputOf(raw: string): string {
  const json = jsonOrUndefined(raw);
  if (typeof json === "string") return json;
  if (!isRecord(json)) return raw;
  if (typeof json["input"] === "string") return json["input"];
  const values = Object.values(json);
  const only = values[0];
  if (values.length === 0) return "";
  return values.length === 1 && typeof only === "string" ? only : raw;
}
