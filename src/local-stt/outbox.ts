import { rememberJson } from "../base/json/json-text.ts";

/** Characters of JSON that wait for a client to read them. */
const WAITING_CHARACTERS_MAX = 1024 * 1024;

interface Waiting<T> {
  readonly message: T;
  readonly characters: number;
}

/** What is to be sent, as something to iterate over: messages are added at any time, and wait until they are taken. */
export class Outbox<T extends object> implements AsyncIterableIterator<T, undefined> {
  readonly #leave: () => void;
  #waiting: Waiting<T>[] = [];
  #characters = 0;
  #ended: { readonly error: unknown } | null = null;
  #wake: () => void = () => {};

  /** `leave` is called when whoever takes the messages stops to. */
  constructor(leave: () => void) {
    this.#leave = leave;
  }

  /** Whether more waits than a client may leave unread. */
  get isFull(): boolean {
    return this.#characters > WAITING_CHARACTERS_MAX;
  }

  add(message: T): void {
    if (this.#ended !== null) return;
    const text = JSON.stringify(message);
    this.#waiting.push({ message: rememberJson(message, text), characters: text.length });
    this.#characters += text.length;
    this.#wake();
  }

  /** Nothing follows but `error`, which is thrown to whoever iterates; null: none. */
  end(error: unknown): void {
    this.#ended ??= { error };
    this.#wake();
  }

  /** Takes back what waits. */
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
      if (this.#ended !== null) return this.#finish(this.#ended.error);
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
    this.#ended = { error: null };
    if (error !== null) throw error;
    return { done: true, value: undefined };
  }
}
