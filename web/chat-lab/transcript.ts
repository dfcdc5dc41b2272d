import { copyText } from "./clipboard.ts";
import { byId, setText } from "./elements.ts";
import { keep, keptText } from "./kept.ts";

/** Maximum states that Undo goes back. */
const STEPS_MAX = 100;
/** What is typed without a pause this long is one step. */
const TYPING_PAUSE_MS = 1000;
const KEPT_AS = "transcript";

/** The one field of the page: dictated words appear in it while they are spoken, and people edit it. */
export class Transcript {
  readonly #field = byId("raw", HTMLTextAreaElement);
  readonly #undo = byId("undo", HTMLButtonElement);
  readonly #note = byId("format-note", HTMLElement);
  readonly #past: string[] = [];
  /** Text of a running dictation: what stood there before it, its final words, and those that may change. */
  #dictation: { before: string; final: string; live: string } | null = null;
  #typedAt = Number.NEGATIVE_INFINITY;

  constructor() {
    this.#show(keptText(KEPT_AS));
    let shown = this.#field.value;
    this.#field.addEventListener("focus", () => {
      shown = this.#field.value;
    });
    this.#field.addEventListener("input", ({ timeStamp }) => {
      if (timeStamp - this.#typedAt > TYPING_PAUSE_MS) this.#remember(shown);
      this.#typedAt = timeStamp;
      shown = this.#field.value;
      keep(KEPT_AS, shown);
    });
    this.#undo.addEventListener("click", () => this.undo());
    byId("copy", HTMLButtonElement).addEventListener("click", () => void copyText(this.text, this.#note));
    this.#showUndo();
  }

  get text(): string {
    return this.#field.value;
  }

  /** Puts another text in place of this one. Undo brings this one back. */
  replace(text: string): void {
    if (text === this.#field.value) return;
    this.#remember(this.#field.value);
    this.#show(text);
    this.#typedAt = Number.NEGATIVE_INFINITY;
  }

  /** Adds a text at the end. */
  add(text: string): void {
    if (this.#dictation === null) return this.replace(joined(this.text, text));
    this.#dictation.before = joined(this.#dictation.before, text);
    this.#showDictation();
  }

  /** From now on spoken words are added, and nothing else is typed. */
  beginDictation(): void {
    this.#dictation = { before: this.text, final: "", live: "" };
    this.#field.readOnly = true;
  }

  /** Shows words that may still change, in place of those of the call before. */
  showLive(words: string): void {
    if (this.#dictation === null) return;
    this.#dictation.live = words;
    this.#showDictation();
  }

  addFinal(words: string): void {
    if (this.#dictation === null) return this.add(words);
    this.#dictation.final = joined(this.#dictation.final, words);
    this.#showDictation();
  }

  endDictation(): void {
    const dictation = this.#dictation;
    this.#dictation = null;
    this.#field.readOnly = false;
    if (dictation !== null && dictation.before !== this.text) this.#remember(dictation.before);
  }

  /** Takes back what was said in the running dictation. */
  discardDictation(): void {
    if (this.#dictation === null) return;
    this.#show(this.#dictation.before);
    this.endDictation();
  }

  undo(): void {
    const before = this.#dictation === null ? this.#past.pop() : undefined;
    if (before === undefined) return;
    this.#show(before);
    this.#typedAt = Number.NEGATIVE_INFINITY;
    this.#showUndo();
    setText(this.#note, "Undone.");
    if (this.#undo.disabled) this.#field.focus();
  }

  #showDictation(): void {
    if (this.#dictation === null) return;
    const { before, final, live } = this.#dictation;
    this.#show(joined(joined(before, final), live));
  }

  #show(text: string): void {
    if (this.#field.value === text) return;
    this.#field.value = text;
    this.#field.scrollTop = this.#field.scrollHeight;
    keep(KEPT_AS, text);
  }

  #remember(text: string): void {
    if (this.#past.length === STEPS_MAX) this.#past.shift();
    this.#past.push(text);
    this.#showUndo();
  }

  #showUndo(): void {
    this.#undo.disabled = this.#past.length === 0;
  }
}

/** The texts with a space between them, if both have words. */
export function joined(first: string, second: string): string {
  if (second === "") return first;
  const start = first.trimEnd();
  return start === "" ? second : `${start} ${second}`;
}
