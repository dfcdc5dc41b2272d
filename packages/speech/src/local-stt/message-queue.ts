import { rememberJson } from "@antiphon/base/json/json-text.ts";

/** Limit of the JSON characters that wait to be read by the client. */
const WAITING_CHARACTERS_MAX = 1024 * 1024;

interface Waiting<T> {
  readonly message: T;
  readonly characters: number;
}

/** A queue of messages to send, which its single reader iterates over. */
export class MessageQueue<T extends object> implements AsyncIterableIterator<T, undefined> {
  readonly #leave: () => void;
  #waiting: Waiting<T>[] = [];
  #characters = 0;
  #end: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  /** `leave` is called when the reader stops iterating. */
  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** Whether more is waiting than a client may leave unread. */
  get isFull(): boolean {
    return this.#characters > WAITING_CHARACTERS_MAX;
  }

  add(message: T): void {
    if (this.#end !== null) return;
    const text = JSON.stringify(message);
    this.#waiting.push({ message: rememberJson(message, text), characters: text.length });
    this.#characters += text.length;
    this.#wake();
  }

  /** Ends the queue after the waiting messages. `error` is then thrown to the reader, unless it is null. */
  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Drops the waiting messages. */
  clear(): void {
    this.#waiting = [];
    this.#characters = 0;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.#characters -= next.characters;
        return { done: false, value: next.message };
      }
      if (this.#end !== null) return this.#finish(this.#end.error);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.end(null);
    this.clear();
    this.#leave();
    return { done: true, value: undefined };
  }

  #finish(error: unknown): IteratorResult<T, undefined> {
    this.#end = { error: null };
    if (error !== null) throw error;
    return { done: true, value: undefined };
  }
}
