import { APIUserAbortError } from "../../src/client/index.ts";
import { byId, sendByKeys, setText } from "./elements.ts";
import { sentenceOf } from "./sentence-of.ts";

export interface ConversationParts {
  /** Prefix of the ids of its elements. */
  readonly id: string;
  /** Returns the dictated text. */
  readonly takeText: () => string;
  /** Yields the answer in pieces, and returns a note about it, such as the model's name. */
  readonly ask: (question: string, signal: AbortSignal) => AsyncGenerator<string, string>;
  /** Starts a new conversation: the next question has no history. */
  readonly forget: () => void;
}

/** A panel of questions and streamed answers. It asks one question at a time. */
export class Conversation {
  readonly #parts: ConversationParts;
  readonly #log: HTMLElement;
  readonly #list: HTMLElement;
  readonly #text: HTMLTextAreaElement;
  readonly #send: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;
  readonly #note: HTMLElement;
  readonly #trouble: HTMLElement;
  #current: AbortController | null = null;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
    const { id } = parts;
    this.#log = byId(`${id}-log`, HTMLElement);
    this.#list = byId(`${id}-list`, HTMLElement);
    this.#text = byId(`${id}-text`, HTMLTextAreaElement);
    this.#send = byId(`${id}-send`, HTMLButtonElement);
    this.#stop = byId(`${id}-stop`, HTMLButtonElement);
    this.#note = byId(`${id}-note`, HTMLElement);
    this.#trouble = byId(`${id}-trouble`, HTMLElement);
    this.#listen(byId(`${id}-form`, HTMLFormElement));
  }

  stop(): void {
    this.#current?.abort();
  }

  #listen(form: HTMLFormElement): void {
    const { id, takeText, forget } = this.#parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const question = this.#text.value.trim();
      if (question !== "" && this.#current === null) void this.#ask(question);
    });
    sendByKeys(this.#text, form, ({ shiftKey }) => !shiftKey);
    this.#stop.addEventListener("click", () => this.stop());
    byId(`${id}-take`, HTMLButtonElement).addEventListener("click", () => {
      this.#text.value = takeText();
      this.#text.focus();
    });
    byId(`${id}-clear`, HTMLButtonElement).addEventListener("click", () => {
      this.stop();
      forget();
      this.#list.replaceChildren();
      setText(this.#note, "");
      setText(this.#trouble, "");
      this.#text.focus();
    });
  }

  async #ask(question: string): Promise<void> {
    const current = new AbortController();
    this.#begin(current);
    const asked = this.#show("user", "You", question);
    const answer = this.#show("assistant", "Answer", "");
    this.#text.value = "";
    try {
      const pieces = this.#parts.ask(question, current.signal);
      for (let next = await pieces.next(); ; next = await pieces.next()) {
        if (next.done === true) {
          setText(this.#note, next.value);
          break;
        }
        answer.textContent += next.value;
        this.#log.scrollTop = this.#log.scrollHeight;
      }
    } catch (error) {
      this.#showFailure(error, { question, asked, answer });
    } finally {
      this.#end();
    }
  }

  /** Puts the question back into the field. A partial answer stays; without one, question and answer are removed. */
  #showFailure(
    error: unknown,
    { question, asked, answer }: { question: string; asked: HTMLElement; answer: HTMLElement },
  ): void {
    const isAborted = error instanceof APIUserAbortError;
    setText(this.#note, isAborted ? "Stopped." : "");
    if (!isAborted) setText(this.#trouble, sentenceOf(error));
    if (answer.textContent !== "") answer.closest("li")?.classList.add("broken");
    else for (const text of [asked, answer]) text.closest("li")?.remove();
    if (this.#text.value === "") this.#text.value = question;
  }

  #begin(current: AbortController): void {
    this.#current = current;
    this.#log.setAttribute("aria-busy", "true");
    this.#send.disabled = true;
    this.#stop.hidden = false;
    setText(this.#note, "Writing the answer…");
    setText(this.#trouble, "");
  }

  #end(): void {
    this.#current = null;
    this.#log.setAttribute("aria-busy", "false");
    this.#send.disabled = false;
    if (document.activeElement === this.#stop) this.#text.focus();
    this.#stop.hidden = true;
  }

  #show(role: "user" | "assistant", who: string, text: string): HTMLElement {
    const item = document.createElement("li");
    item.className = role;
    const name = document.createElement("strong");
    name.textContent = who;
    const said = document.createElement("p");
    said.textContent = text;
    item.append(name, said);
    this.#list.append(item);
    this.#log.scrollTop = this.#log.scrollHeight;
    return said;
  }
}
