/** How much text of one answer is spoken: about a quarter of an hour. What is beyond stays unspoken. */
export const SPOKEN_CHARACTERS_MAX = 15_000;

/** Sentences that wait for the voice. Text comes faster than it can be spoken, and never waits for it. */
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
