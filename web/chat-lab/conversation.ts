import { APIUserAbortError } from "../../packages/client/src/index.ts";
import { copyText } from "./clipboard.ts";
import { byId, sendByKeys, setText } from "./elements.ts";
import { type Exchange, keepExchanges, keptExchanges } from "./exchanges.ts";
import { keepField } from "./kept.ts";
import { sentenceOf } from "./sentence-of.ts";

/** Yields the answer in pieces, and returns a note about it, such as the model's name. */
type Pieces = AsyncGenerator<string, string>;

export interface ConversationParts {
  /** Prefix of the ids of its elements. */
  readonly id: string;
  /** Returns the dictated text. */
  readonly takeText: () => string;
  readonly ask: (question: string, signal: AbortSignal) => Pieces;
  /** Takes up the answer that a reload interrupted, from its beginning; null if it cannot be taken up. */
  readonly resume: () => ((signal: AbortSignal) => Pieces) | null;
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
  #exchanges: Exchange[];
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
    keepField(this.#text);
    this.#exchanges = keptExchanges(id);
    this.#listen(byId(`${id}-form`, HTMLFormElement));
    this.#restore();
  }

  stop(): void {
    this.#current?.abort();
  }

  #listen(form: HTMLFormElement): void {
    const { id, takeText, ask } = this.#parts;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const question = this.#text.value.trim();
      if (question === "" || this.#current !== null) return;
      const exchange: Exchange = { question, answer: "", state: "asking" };
      this.#exchanges.push(exchange);
      this.#write("");
      void this.#read(exchange, this.#show(exchange), (signal) => ask(question, signal));
    });
    sendByKeys(this.#text, form, ({ shiftKey }) => !shiftKey);
    this.#stop.addEventListener("click", () => this.stop());
    byId(`${id}-take`, HTMLButtonElement).addEventListener("click", () => {
      this.#write(takeText());
      this.#text.focus();
    });
    byId(`${id}-clear`, HTMLButtonElement).addEventListener("click", () => this.#startAnew());
  }

  #startAnew(): void {
    this.stop();
    this.#parts.forget();
    this.#exchanges = [];
    this.#keep();
    this.#list.replaceChildren();
    setText(this.#note, "");
    setText(this.#trouble, "");
    this.#text.focus();
  }

  /** Shows what was there before a reload, and takes up the answer that it interrupted. */
  #restore(): void {
    for (const exchange of this.#exchanges) {
      const answer = this.#show(exchange);
      if (exchange.state !== "asking") continue;
      const resume = this.#parts.resume();
      if (resume === null) this.#break(exchange, answer, "The page was reloaded before the answer was complete.");
      else {
        exchange.answer = "";
        answer.textContent = "";
        void this.#read(exchange, answer, resume);
      }
    }
  }

  async #read(exchange: Exchange, answer: HTMLElement, begin: (signal: AbortSignal) => Pieces): Promise<void> {
    const current = new AbortController();
    this.#begin(current);
    try {
      const pieces = begin(current.signal);
      for (let next = await pieces.next(); ; next = await pieces.next()) {
        if (next.done === true) {
          exchange.state = "answered";
          setText(this.#note, next.value);
          break;
        }
        exchange.answer += next.value;
        answer.textContent = exchange.answer;
        this.#log.scrollTop = this.#log.scrollHeight;
        this.#keep();
      }
    } catch (error) {
      const isStopped = error instanceof APIUserAbortError || current.signal.aborted;
      if (!isStopped) setText(this.#trouble, sentenceOf(error));
      this.#break(exchange, answer, isStopped ? "Stopped." : "");
    } finally {
      this.#end();
    }
  }

  /** Puts the question back into the field. A partial answer stays; without one, question and answer are removed. */
  #break(exchange: Exchange, answer: HTMLElement, note: string): void {
    setText(this.#note, note);
    exchange.state = "broken";
    const item = answer.closest("li");
    if (exchange.answer === "") {
      item?.previousElementSibling?.remove();
      item?.remove();
      this.#exchanges = this.#exchanges.filter((one) => one !== exchange);
    } else item?.classList.add("broken");
    if (this.#text.value === "") this.#write(exchange.question);
    this.#keep();
  }

  #begin(current: AbortController): void {
    this.#current = current;
    this.#log.setAttribute("aria-busy", "true");
    this.#send.disabled = true;
    this.#stop.hidden = false;
    setText(this.#note, "Writing the answer…");
    setText(this.#trouble, "");
    this.#keep();
  }

  #end(): void {
    this.#current = null;
    this.#log.setAttribute("aria-busy", "false");
    this.#send.disabled = false;
    if (document.activeElement === this.#stop) this.#text.focus();
    this.#stop.hidden = true;
    this.#keep();
  }

  #keep(): void {
    keepExchanges(this.#parts.id, this.#exchanges);
  }

  /** Writes into the field as a person would, so that it is kept. */
  #write(text: string): void {
    this.#text.value = text;
    this.#text.dispatchEvent(new Event("input"));
  }

  /** Returns the element for the words of the answer. */
  #show(exchange: Exchange): HTMLElement {
    this.#item("user", "You", exchange.question);
    const said = this.#item("assistant", "Answer", exchange.answer);
    const copy = document.createElement("button");
    copy.type = "button";
    copy.className = "quiet copy";
    copy.textContent = "Copy";
    copy.addEventListener("click", () => void copyText(exchange.answer, this.#note));
    said.after(copy);
    if (exchange.state === "broken") said.closest("li")?.classList.add("broken");
    this.#log.scrollTop = this.#log.scrollHeight;
    return said;
  }

  #item(role: "user" | "assistant", who: string, text: string): HTMLElement {
    const item = document.createElement("li");
    item.className = role;
    const name = document.createElement("strong");
    name.textContent = who;
    const said = document.createElement("p");
    said.textContent = text;
    item.append(name, said);
    this.#list.append(item);
    return said;
  }
}
