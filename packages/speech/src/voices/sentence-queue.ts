/** Limit of the text that is spoken of one answer: about 15 minutes. Further text is not spoken. */
export const SPOKEN_CHARACTERS_MAX = 15_000;

/** A queue of sentences for the voice. Text arrives faster than it is spoken and is never blocked. */
export class SentenceQueue implements AsyncIterable<string> {
  readonly #waiting: string[] = [];
  #characters = 0;
  #isEnded = false;
  #wake: () => void = () => {};

  push(sentences: readonly string[]): void {
    for (const sentence of sentences) {
      if (this.#isEnded) return;
      this.#characters += sentence.length;
      if (this.#characters > SPOKEN_CHARACTERS_MAX) this.#isEnded = true;
      else this.#waiting.push(sentence);
    }
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#isEnded) return;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    }
  }
}
