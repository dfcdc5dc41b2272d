import type { ServerSecrets } from "../authorization/server-secrets.ts";

const LINE_CHARACTERS_MAX = 1000;
/** A longer line is left out: a secret in it could be cut, and then not be found. */
const LINE_BYTES_MAX = 16 * 1024;
/** The maximum lines of one program in `WINDOW_MS`. */
const LINES_MAX = 100;
const WINDOW_MS = 60_000;

/** Writes a program's stderr to the log, line by line, without secrets. */
export class ComplaintLog {
  readonly #write: (fields: { readonly stderr: string; readonly linesLeftOut?: number }, message: string) => void;
  readonly #secrets: Pick<ServerSecrets, "redact">;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #isTooLong = false;
  #windowEnd = 0;
  #lines = 0;
  #linesLeftOut = 0;

  constructor(
    write: (fields: { readonly stderr: string; readonly linesLeftOut?: number }, message: string) => void,
    secrets: Pick<ServerSecrets, "redact">,
  ) {
    this.#write = write;
    this.#secrets = secrets;
  }

  add(bytes: Uint8Array): void {
    const pieces = this.#decoder.decode(bytes, { stream: true }).split("\n");
    const rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      this.#addPiece(piece);
      this.#endLine();
    }
    this.#addPiece(rest);
  }

  /** Writes the line that the program had begun. */
  end(): void {
    this.#endLine();
  }

  #addPiece(piece: string): void {
    this.#rest += piece;
    if (this.#rest.length <= LINE_BYTES_MAX) return;
    this.#rest = "";
    this.#isTooLong = true;
  }

  #endLine(): void {
    const line = this.#rest.trimEnd();
    const isTooLong = this.#isTooLong;
    this.#rest = "";
    this.#isTooLong = false;
    if (isTooLong) this.#linesLeftOut += 1;
    else if (line !== "") this.#writeLine(line);
  }

  #writeLine(line: string): void {
    const now = performance.now();
    if (now >= this.#windowEnd) {
      this.#windowEnd = now + WINDOW_MS;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines > LINES_MAX) {
      this.#linesLeftOut += 1;
      return;
    }
    const text = this.#secrets.redact(line);
    const stderr = text.length > LINE_CHARACTERS_MAX ? `${text.slice(0, LINE_CHARACTERS_MAX).toWellFormed()}…` : text;
    const left = this.#linesLeftOut;
    this.#linesLeftOut = 0;
    this.#write({ stderr, ...(left === 0 ? {} : { linesLeftOut: left }) }, "program of an MCP server wrote");
  }
}
