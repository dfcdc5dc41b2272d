import { ReadingEnded } from "./office-outcome.ts";

/** Collects the text of a document. `write` throws `ReadingEnded` beyond the limit. */
export class TextSink {
  readonly #charactersMax: number;
  readonly #pieces: string[] = [];
  #characters = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  write(text: string): void {
    this.#characters += text.length;
    if (this.#characters > this.#charactersMax) throw new ReadingEnded("too_many_characters");
    this.#pieces.push(text);
  }

  get text(): string {
    return this.#pieces.join("").trim();
  }
}
