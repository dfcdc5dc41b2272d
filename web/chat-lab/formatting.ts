import { type AntiphonSpeech, APIUserAbortError } from "../../src/client/index.ts";
import { byId, sendByKeys, setText } from "./elements.ts";
import { sentenceOf } from "./sentence-of.ts";

/** The raw transcript and, beside it, the formatted text. */
export class Texts {
  readonly #speech: AntiphonSpeech;
  readonly #raw = byId("raw", HTMLTextAreaElement);
  readonly #formatted = byId("formatted", HTMLTextAreaElement);
  readonly #note = byId("format-note", HTMLElement);
  readonly #trouble = byId("format-trouble", HTMLElement);
  #current: AbortController | null = null;

  constructor(speech: AntiphonSpeech) {
    this.#speech = speech;
    const form = byId("format", HTMLFormElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.format();
    });
    for (const text of [this.#raw, byId("instruction", HTMLElement)]) sendByKeys(text, form);
    byId("clear", HTMLButtonElement).addEventListener("click", () => {
      this.stop();
      this.#raw.value = "";
      this.#formatted.value = "";
      setText(this.#note, "");
      this.#raw.focus();
    });
  }

  add(text: string): void {
    if (text === "") return;
    this.#raw.value = this.#raw.value === "" ? text : `${this.#raw.value.trimEnd()} ${text}`;
    this.#raw.scrollTop = this.#raw.scrollHeight;
  }

  /** The formatted text, or the raw one if nothing was formatted. */
  get result(): string {
    return this.#formatted.value || this.#raw.value;
  }

  get wantsFormatting(): boolean {
    return byId("format-at-once", HTMLInputElement).checked && this.#raw.value.trim() !== "";
  }

  stop(): void {
    this.#current?.abort();
  }

  async format(): Promise<void> {
    this.stop();
    const current = new AbortController();
    this.#current = current;
    setText(this.#trouble, "");
    setText(this.#note, "Formatting…");
    const request = {
      text: this.#raw.value,
      assistive: byId("assistive", HTMLInputElement).checked,
      instruction: byId("instruction", HTMLInputElement).value,
    };
    try {
      const { text, formatted, warning } = await this.#speech.format(request, { signal: current.signal });
      this.#formatted.value = text;
      setText(
        this.#note,
        formatted ? "Formatted." : (warning ?? "Not formatted: no provider is set up, or formatting is off."),
      );
    } catch (error) {
      if (error instanceof APIUserAbortError) return;
      setText(this.#note, "");
      setText(this.#trouble, sentenceOf(error));
    }
  }
}
