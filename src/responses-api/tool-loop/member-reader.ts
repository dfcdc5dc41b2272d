const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * Decodes the string of one top-level member of a JSON object while its text arrives in pieces. Everything else of the
 * object is skipped. Broken JSON ends the reading; what was decoded until then stays.
 */
export class MemberReader {
  readonly #member: string;
  #depth = 0;
  /** In a string: what it is. */
  #string: "name" | "wanted" | "other" | null = null;
  #escape: string | null = null;
  #name = "";
  #expectsName = false;
  #isWanted = false;
  #isDone = false;
  /** The first half of a character whose other half has not arrived. */
  #half = "";

  constructor(member: string) {
    this.#member = member;
  }

  /** Returns what the piece adds to the decoded string. */
  add(piece: string): string {
    let decoded = this.#half;
    for (const sign of piece) {
      if (this.#isDone) break;
      decoded += this.#string === null ? this.#outside(sign) : this.#inside(sign);
    }
    this.#half = this.#isDone ? "" : (/[\uD800-\uDBFF]$/.exec(decoded)?.[0] ?? "");
    return this.#half === "" ? decoded : decoded.slice(0, -1);
  }

  #outside(sign: string): "" {
    if (sign === '"') {
      this.#string = this.#expectsName ? "name" : this.#isWanted ? "wanted" : "other";
      if (this.#expectsName) this.#name = "";
    } else if (sign === "{" || sign === "[") {
      this.#depth += 1;
      this.#expectsName = this.#depth === 1 && sign === "{";
      this.#isWanted = false;
    } else if (sign === "}" || sign === "]") this.#depth -= 1;
    else if (sign === ":") {
      if (this.#depth !== 1) return "";
      this.#isWanted = this.#expectsName && this.#name === this.#member;
      this.#expectsName = false;
    } else if (sign === "," && this.#depth === 1) {
      this.#expectsName = true;
      this.#isWanted = false;
    }
    return "";
  }

  #inside(sign: string): string {
    if (this.#escape !== null) return this.#escaped(sign);
    if (sign === "\\") {
      this.#escape = "";
      return "";
    }
    if (sign !== '"') return this.#said(sign);
    if (this.#string === "wanted") this.#isDone = true;
    this.#string = null;
    return "";
  }

  /** `\uXXXX` takes four more signs. */
  #escaped(sign: string): string {
    const escape = `${this.#escape ?? ""}${sign}`;
    const isUnicode = escape.startsWith("u");
    if (isUnicode && escape.length < 5) {
      this.#escape = escape;
      return "";
    }
    this.#escape = null;
    return this.#said(isUnicode ? String.fromCharCode(Number.parseInt(escape.slice(1), 16)) : (ESCAPES[sign] ?? sign));
  }

  #said(text: string): string {
    if (this.#string === "name") this.#name += text;
    return this.#string === "wanted" ? text : "";
  }
}
