/** The kept bytes at the end of a program's stderr. */
const KEPT_BYTES_MAX = 16 * 1024;
const ERROR_LINE = /^\S*(?:error|exception|fatal|panic)/i;

/** The end of a program's stderr. */
export class LastWords {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > 2 * KEPT_BYTES_MAX) this.#shorten();
  }

  /** Whole lines: the beginning of a cut line could be part of a secret. */
  get text(): string {
    if (this.#bytes > KEPT_BYTES_MAX) this.#shorten();
    const text = Buffer.concat(this.#pieces).toString("utf8");
    return (this.#isCut ? text.slice(text.indexOf("\n") + 1 || text.length) : text).trim();
  }

  #shorten(): void {
    this.#pieces = [Buffer.from(Buffer.concat(this.#pieces).subarray(-KEPT_BYTES_MAX))];
    this.#bytes = KEPT_BYTES_MAX;
    this.#isCut = true;
  }
}

/** The line with the error: the last one that begins like an error, otherwise the last. */
export function errorLineOf(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return (lines.findLast((line) => ERROR_LINE.test(line)) ?? lines.at(-1) ?? "").trim();
}
