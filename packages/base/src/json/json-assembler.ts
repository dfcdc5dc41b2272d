import { readJson } from "./read-json.ts";
import { isRecord } from "./records.ts";

/** Deeper nesting would overflow the stack of the validators and of other recursive code. */
export const JSON_DEPTH_MAX = 512;

/** Maximum members and elements of one text. Otherwise a small text of many tiny values could fill the heap. */
export const JSON_VALUES_MAX = 1_000_000;

/** Maximum bytes buffered between two pieces: a member's name, a number, and the white space around them. */
const UNREAD_BYTES_MAX = 1024 * 1024;

/** An unfinished string that is at least this long is itself read piece by piece. */
const LONG_STRING_BYTES = 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** `\u` and four hexadecimal digits. */
const ESCAPE_BYTES_MAX = 6;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Up to here, the end of a string is searched byte by byte, which is faster than calling `indexOf`. */
const NEAR_BYTES = 48;
const NOTHING = Buffer.alloc(0);

/** An array or object whose closing bracket has not arrived. */
interface Level {
  readonly isArray: boolean;
  /** The part parsed so far; null while all of it is in the current text. */
  value: unknown[] | Record<string, unknown> | null;
  /** Position of its opening bracket in the current text. Meaningless once `value` is set. */
  readonly opensAt: number;
  /** The start of the text that is not yet part of `value`. */
  restAt: number;
  /** Position of the last comma between its own elements or members; -1 if there is none. */
  commaAt: number;
  /** What precedes the text at `restAt`: the opening bracket, a comma, or an added value. */
  after: "bracket" | "comma" | "value";
  /** In an object, the name of the member whose value is the next level or the long string. */
  name: string;
}

/** A long string that has been partly read. */
interface LongString {
  readonly decoder: TextDecoder;
  readonly parts: string[];
}

/**
 * Parses UTF-8 JSON that arrives in pieces of any size. The time for a piece is linear in its size, whatever the text.
 * The text between two commas is parsed by `JSON.parse`, so the result equals that of `JSON.parse` for the whole text.
 * Throws a `SyntaxError` if the text is not JSON, is too deep or has too many values; do not use the assembler after
 * that.
 */
export class JsonAssembler {
  /** The outermost value is read as the only element of a list without brackets. */
  readonly #root: Level = newLevel(true, -1, []);
  readonly #levels: Level[] = [this.#root];
  #text: Buffer = NOTHING;
  #scannedTo = 0;
  #values = 0;
  #string: LongString | null = null;
  #isBegun = false;

  add(piece: Buffer): void {
    this.#text = this.#text.length === 0 ? piece : Buffer.concat([this.#text, piece]);
    if (!this.#isBegun && !this.#begin()) return;
    if (this.#string !== null && !this.#readOn(this.#string)) return;
    const openStringAt = this.#scan();
    this.#readCompleted(openStringAt);
  }

  /** Returns the value after all pieces have been added. */
  end(): unknown {
    this.#isBegun = true;
    this.#scan();
    const [root, ...open] = this.#levels;
    require(this.#string === null && open.length === 0 && root === this.#root);
    this.#readRest(this.#root, this.#text.length);
    const { value } = this.#root;
    require(Array.isArray(value) && value.length === 1);
    return value[0];
  }

  /** Skips a byte order mark. Returns false while too few bytes have arrived to recognize one. */
  #begin(): boolean {
    if (this.#text.length < BYTE_ORDER_MARK.length) return false;
    if (this.#text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK))
      this.#text = this.#text.subarray(BYTE_ORDER_MARK.length);
    this.#isBegun = true;
    return true;
  }

  /** Scans the new part of the text. Returns where an unfinished string begins, or -1. */
  #scan(): number {
    const text = this.#text;
    let top = this.#top;
    for (let at = this.#scannedTo; at < text.length; at++) {
      switch (text[at]) {
        case QUOTE: {
          const end = endOfString(text, at + 1);
          if (end === -1) {
            this.#scannedTo = at;
            return at;
          }
          at = end;
          break;
        }
        case COMMA:
          this.#values++;
          if (top.after === "value") this.#passComma(top, at);
          else top.commaAt = at;
          break;
        case OPEN_BRACKET:
        case OPEN_BRACE:
          this.#values++;
          top = this.#open(text[at] === OPEN_BRACKET, at);
          break;
        case CLOSE_BRACKET:
        case CLOSE_BRACE:
          top = this.#close(text[at] === CLOSE_BRACKET, at);
          break;
        default:
      }
    }
    require(this.#values <= JSON_VALUES_MAX);
    this.#scannedTo = text.length;
    return -1;
  }

  get #top(): Level {
    return this.#levels.at(-1) ?? this.#root;
  }

  #open(isArray: boolean, at: number): Level {
    require(this.#levels.length <= JSON_DEPTH_MAX);
    const level = newLevel(isArray, at, null);
    this.#levels.push(level);
    return level;
  }

  #close(isArray: boolean, at: number): Level {
    const level = this.#levels.pop();
    require(level !== undefined && level !== this.#root && level.isArray === isArray);
    const above = this.#top;
    if (level.value === null) return above; // It is parsed with the text of the level above.
    this.#readRest(level, at);
    this.#put(above, level.value, at + 1);
    return above;
  }

  /** Handles the comma after a value that was added by `#put`. */
  #passComma(level: Level, at: number): void {
    require(isBlankRange(this.#text, level.restAt, at));
    level.after = "comma";
    level.restAt = at + 1;
  }

  #put(level: Level, value: unknown, restAt: number): void {
    if (Array.isArray(level.value)) level.value.push(value);
    else if (level.value !== null) setMember(level.value, level.name, value);
    level.after = "value";
    level.restAt = restAt;
    level.commaAt = -1;
  }

  /** Parses everything in the current text that is complete, and keeps the rest for the next piece. */
  #readCompleted(openStringAt: number): void {
    for (const [index, level] of this.#levels.entries()) {
      level.value ??= level.isArray ? [] : {};
      if (level.commaAt !== -1) this.#readToComma(level, level.commaAt);
      const next = this.#levels[index + 1];
      if (next !== undefined && next.value === null) this.#readName(level, next.opensAt);
    }
    const top = this.#top;
    const isLong = openStringAt !== -1 && this.#text.length - openStringAt >= LONG_STRING_BYTES;
    // A member's name must be read as a whole.
    const isName = !top.isArray && isBlankRange(this.#text, top.restAt, openStringAt);
    if (isLong && !isName) return this.#beginString(top, openStringAt);
    this.#keepFrom(endOfBlanks(this.#text, top.restAt));
    top.restAt = 0;
    require(this.#text.length <= UNREAD_BYTES_MAX);
  }

  /** Drops the text before `at`. The rest is copied, so that the pieces can be freed. */
  #keepFrom(at: number): void {
    this.#text = Buffer.from(this.#text.subarray(at));
    this.#scannedTo = Math.max(0, this.#scannedTo - at);
  }

  /** Parses the elements or members before the last comma. */
  #readToComma(level: Level, at: number): void {
    this.#readPart(level, at, false);
    level.after = "comma";
    level.restAt = at + 1;
    level.commaAt = -1;
  }

  /** Parses the rest of a level that ends at `end`. */
  #readRest(level: Level, end: number): void {
    if (level.after === "value") require(isBlankRange(this.#text, level.restAt, end));
    else this.#readPart(level, end, level.after === "bracket");
  }

  #readPart(level: Level, end: number, mayBeEmpty: boolean): void {
    const text = this.#decode(level.restAt, end);
    const part: unknown = readJson(level.isArray ? `[${text}]` : `{${text}}`);
    if (Array.isArray(part) && Array.isArray(level.value)) {
      require(mayBeEmpty || part.length > 0);
      for (const element of part) level.value.push(element);
    } else if (isRecord(part) && isRecord(level.value)) {
      const names = Object.keys(part);
      require(mayBeEmpty || names.length > 0);
      for (const name of names) setMember(level.value, name, part[name]);
    }
  }

  /**
   * Reads the text before a value that begins at `at`: in an object, the member's name; in a list, only white space.
   */
  #readName(level: Level, at: number): void {
    require(level.after !== "value");
    if (level.isArray) return require(isBlankRange(this.#text, level.restAt, at));
    const member: unknown = readJson(`{${this.#decode(level.restAt, at)}[]}`);
    const [name] = isRecord(member) ? Object.keys(member) : [];
    require(name !== undefined);
    level.name = name;
  }

  #beginString(top: Level, at: number): void {
    this.#readName(top, at);
    this.#string = { decoder: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }), parts: [] };
    this.#keepFrom(at + 1);
    this.#readOn(this.#string);
  }

  /** Reads the next part of a long string. Returns whether the string has ended. */
  #readOn(string: LongString): boolean {
    const text = this.#text;
    const end = endOfString(text, 0);
    const cut = end === -1 ? lastCut(text) : end;
    string.parts.push(String(readJson(`"${string.decoder.decode(text.subarray(0, cut), { stream: end === -1 })}"`)));
    if (end === -1) {
      this.#keepFrom(cut);
      return false;
    }
    this.#string = null;
    this.#scannedTo = end + 1;
    this.#put(this.#top, string.parts.join(""), end + 1);
    return true;
  }

  #decode(start: number, end: number): string {
    return utf8.decode(this.#text.subarray(start, end));
  }
}

function newLevel(isArray: boolean, opensAt: number, value: Level["value"]): Level {
  return { isArray, value, opensAt, restAt: opensAt + 1, commaAt: -1, after: "bracket", name: "" };
}

/** Like `JSON.parse`: the last of several members with one name counts, and `__proto__` is an ordinary name. */
function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__")
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  else target[name] = value;
}

/** Position of the quote that ends a string whose text begins at `from`; -1 if it is not in these bytes. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  for (const near = Math.min(from + NEAR_BYTES, bytes.length); at < near; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  for (let quote = bytes.indexOf(QUOTE, at); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    if (backslashesBefore(bytes, quote, at) % 2 === 0) return quote;
  }
  return -1;
}

function backslashesBefore(bytes: Buffer, at: number, from: number): number {
  let start = at;
  while (start > from && bytes[start - 1] === BACKSLASH) start--;
  return at - start;
}

/** The last position at which a string can be cut without splitting an escape. */
function lastCut(text: Buffer): number {
  const last = text.lastIndexOf(BACKSLASH);
  if (last < text.length - ESCAPE_BYTES_MAX || backslashesBefore(text, last + 1, 0) % 2 === 0) return text.length;
  const length = text[last + 1] === LOWER_U ? ESCAPE_BYTES_MAX : 2;
  return last + length > text.length ? last : text.length;
}

function isBlankRange(bytes: Buffer, start: number, end: number): boolean {
  return endOfBlanks(bytes.subarray(0, end), start) >= end;
}

function endOfBlanks(bytes: Buffer, start: number): number {
  let end = start;
  while (BLANKS.has(bytes[end] ?? QUOTE)) end++;
  return end;
}

function require(condition: boolean): asserts condition {
  if (!condition) throw new SyntaxError("the text is not JSON, is too deep or has too many values");
}
