const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Detects when a JSON object or array that arrives in pieces is complete. Reads each character once and stores none.
 */
export class JsonScanner {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #whole = false;

  /** True once the outermost bracket is closed. Never true for a string, number or literal. */
  get whole(): boolean {
    return this.#whole;
  }

  feed(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#inString) this.#insideString(code);
      else if (code === QUOTE) this.#inString = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth += 1;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth === 0) this.#whole = true;
      }
    }
  }

  #insideString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#inString = false;
  }
}
