import { type AntiphonSpeech, APIUserAbortError } from "../../packages/client/src/index.ts";
import { byId, sendByKeys, setText } from "./elements.ts";
import { keepField } from "./kept.ts";
import { sentenceOf } from "./sentence-of.ts";
import type { Transcript } from "./transcript.ts";

/** Formats the transcript in its field. */
export class Formatting {
  readonly #speech: AntiphonSpeech;
  readonly #transcript: Transcript;
  readonly #style = byId("style", HTMLInputElement);
  readonly #atOnce = byId("format-at-once", HTMLInputElement);
  readonly #assistive = byId("assistive", HTMLInputElement);
  readonly #note = byId("format-note", HTMLElement);
  readonly #trouble = byId("format-trouble", HTMLElement);
  #current: AbortController | null = null;

  constructor(speech: AntiphonSpeech, transcript: Transcript) {
    this.#speech = speech;
    this.#transcript = transcript;
    for (const field of [this.#style, this.#atOnce, this.#assistive]) keepField(field);
    const form = byId("format", HTMLFormElement);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.format();
    });
    for (const text of [byId("raw", HTMLElement), this.#style]) sendByKeys(text, form);
    byId("clear", HTMLButtonElement).addEventListener("click", () => {
      this.stop();
      transcript.replace("");
      setText(this.#note, "");
      byId("raw", HTMLElement).focus();
    });
  }

  /** Formats what was dictated, if people want that. */
  afterDictation(): void {
    if (this.#atOnce.checked && this.#transcript.text.trim() !== "") void this.format();
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
    const asked = this.#transcript.text;
    const request = { text: asked, assistive: this.#assistive.checked, instruction: this.#style.value };
    try {
      const { text, formatted, warning } = await this.#speech.format(request, { signal: current.signal });
      // What was typed or said meanwhile is newer than the answer.
      const isChanged = this.#transcript.text !== asked;
      if (formatted && !isChanged) this.#transcript.replace(text);
      const unformatted = warning ?? "Not formatted: no provider is set up, or formatting is off.";
      const shown = isChanged ? "The text has changed meanwhile. Format it again." : "Formatted.";
      setText(this.#note, formatted ? shown : unformatted);
    } catch (error) {
      if (error instanceof APIUserAbortError) return;
      setText(this.#note, "");
      setText(this.#trouble, sentenceOf(error));
    }
  }
}
