import { ReadingEnded } from "./office-outcome.ts";

/** The text of a document, as far as it may grow. */
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
