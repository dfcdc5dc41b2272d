const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The member names and list indexes that lead to a value. */
export type JsonPath = readonly (string | number)[];

/** The part of one string in a piece of JSON text. */
export interface StringPiece {
  readonly path: JsonPath;
  /** Decoded. Empty if the string only begins or ends here. */
  readonly text: string;
  /** Whether the string ends here. */
  readonly isWhole: boolean;
}

/**
 * Decodes the strings of a JSON object or list while its text arrives in pieces. Skips strings below `levels` levels
 * and everything else. Invalid JSON may give strings that a parser of the whole text would not find, so compare them in
 * the end.
 */
export class JsonStrings {
  readonly #levels: number;
  /** The member of each open object and the index of each open list; only for the first levels. */
  readonly #path: (string | number)[] = [];
  #depth = 0;
  #isDone = false;
  /** The role of the current string. */
  #string: "name" | "value" | "skipped" | null = null;
  #escape: string | null = null;
  #name = "";
  #expectsName = false;
  /** The decoded part of the open value that was not returned yet. */
  #text = "";
  #pieces: StringPiece[] = [];

  /** `levels`: 1 reads only the members of the object itself. */
  constructor(levels: number) {
    this.#levels = levels;
  }

  /** Returns one entry per string in the piece. No text ends within a character. */
  add(piece: string): readonly StringPiece[] {
    for (const sign of piece) {
      if (this.#isDone) break;
      if (this.#string === null) this.#outside(sign);
      else this.#inside(sign);
    }
    if (this.#string === "value") this.#passOn(false);
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  #outside(sign: string): void {
    const isRead = this.#depth > 0 && this.#depth <= this.#levels;
    if (sign === '"') this.#begin(isRead);
    else if (sign === "{" || sign === "[") this.#open(sign === "{");
    else if (sign === "}" || sign === "]") this.#close();
    else if (sign === ":") this.#expectsName = false;
    else if (sign === "," && isRead) this.#next();
  }

  #begin(isRead: boolean): void {
    this.#string = isRead ? (this.#expectsName ? "name" : "value") : "skipped";
    this.#name = "";
    this.#text = "";
  }

  #open(isObject: boolean): void {
    this.#depth += 1;
    if (this.#depth <= this.#levels) this.#path.push(isObject ? "" : 0);
    this.#expectsName = isObject;
  }

  #close(): void {
    if (this.#depth <= this.#levels) this.#path.pop();
    this.#depth -= 1;
    this.#expectsName = false;
    this.#isDone = this.#depth <= 0;
  }

  #next(): void {
    const at = this.#path.at(-1);
    this.#expectsName = typeof at === "string";
    if (typeof at === "number") this.#path[this.#path.length - 1] = at + 1;
  }

  #inside(sign: string): void {
    if (this.#escape !== null) this.#takeEscape(this.#escape + sign, sign);
    else if (sign === "\\") this.#escape = "";
    else if (sign === '"') this.#end();
    else this.#takeText(sign);
  }

  /** `\uXXXX` needs four more characters. */
  #takeEscape(escape: string, sign: string): void {
    const isUnicode = escape.startsWith("u");
    this.#escape = isUnicode && escape.length < 5 ? escape : null;
    if (this.#escape !== null) return;
    this.#takeText(isUnicode ? String.fromCharCode(Number.parseInt(escape.slice(1), 16)) : (ESCAPES[sign] ?? sign));
  }

  #takeText(text: string): void {
    if (this.#string === "name") this.#name += text;
    else if (this.#string === "value") this.#text += text;
  }

  #end(): void {
    if (this.#string === "value") this.#passOn(true);
    if (this.#string === "name") this.#path[this.#path.length - 1] = this.#name;
    this.#string = null;
  }

  /** Half a character waits for its other half. */
  #passOn(isWhole: boolean): void {
    const half = isWhole ? "" : (/[\uD800-\uDBFF]$/.exec(this.#text)?.[0] ?? "");
    this.#pieces.push({ path: [...this.#path], text: this.#text.slice(0, this.#text.length - half.length), isWhole });
    this.#text = half;
  }
}
