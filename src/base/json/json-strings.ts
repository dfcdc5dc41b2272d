const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The member names and list indexes that lead to a value. */
export type JsonPath = readonly (string | number)[];

/** What a piece of JSON text adds to one string. */
export interface StringPiece {
  readonly path: JsonPath;
  /** Decoded. Empty where the string only begins or ends. */
  readonly text: string;
  /** Whether the string ends here. */
  readonly isWhole: boolean;
}

/**
 * Decodes the strings of a JSON object or list while its text arrives in pieces. Strings below `levels` levels, and
 * everything that is no string, are skipped. Broken JSON gives strings that whoever reads the whole text will not find,
 * so compare them in the end.
 */
export class JsonStrings {
  readonly #levels: number;
  /** Of each open object the member, of each open list the index; only of the first levels. */
  readonly #path: (string | number)[] = [];
  #depth = 0;
  #isDone = false;
  /** In a string: what it is. */
  #string: "name" | "value" | "skipped" | null = null;
  #escape: string | null = null;
  #name = "";
  #expectsName = false;
  /** What was decoded of the open value and not returned yet. */
  #text = "";
  #pieces: StringPiece[] = [];

  /** `levels`: 1 reads the members of the object itself. */
  constructor(levels: number) {
    this.#levels = levels;
  }

  /** What the piece adds, one entry for each string that it touches. No text ends within a character. */
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
    if (this.#escape !== null) this.#escaped(this.#escape + sign, sign);
    else if (sign === "\\") this.#escape = "";
    else if (sign === '"') this.#end();
    else this.#said(sign);
  }

  /** `\uXXXX` takes four more signs. */
  #escaped(escape: string, sign: string): void {
    const isUnicode = escape.startsWith("u");
    this.#escape = isUnicode && escape.length < 5 ? escape : null;
    if (this.#escape !== null) return;
    this.#said(isUnicode ? String.fromCharCode(Number.parseInt(escape.slice(1), 16)) : (ESCAPES[sign] ?? sign));
  }

  #said(text: string): void {
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
