import { type GrowingText, grow, lengthOf, NO_TEXT, textOf } from "../../../base/growing-text.ts";
import type { CalledTool } from "../request/tool-names.ts";
import type { CustomInputReader } from "./custom-input-reader.ts";
import { JsonScanner } from "./json-scanner.ts";

/** `{}` with some white space around it; anything longer is taken as it is. */
const PLACEHOLDER_CHARACTERS_MAX = 64;

/** One tool call as far as it has arrived. */
export class IncomingCall {
  readonly id: string | null;
  name = "";
  state: "waiting" | "open" | "closed" = "waiting";
  started: CalledTool | null = null;
  customInput: CustomInputReader | null = null;
  /** Whether arguments were passed on. From then on each piece is passed on as it comes. */
  isSending = false;
  #text: GrowingText = NO_TEXT;
  #scanner = new JsonScanner();

  constructor(id: string | null) {
    this.id = id;
  }

  /** Everything that arrived. It is put together here, so this is not for every piece. */
  get arguments(): string {
    return textOf(this.#text);
  }

  get length(): number {
    return lengthOf(this.#text);
  }

  /** Whether the arguments are a whole JSON object or array. */
  get isWhole(): boolean {
    return this.#scanner.whole;
  }

  get isEmptyObject(): boolean {
    return this.length <= PLACEHOLDER_CHARACTERS_MAX && this.arguments.trim() === "{}";
  }

  /** Some servers send `{}` first and the real arguments afterwards. */
  get isPlaceholder(): boolean {
    return !this.isSending && this.isWhole && this.isEmptyObject;
  }

  append(text: string): void {
    this.#text = grow(this.#text, text);
    this.#scanner.feed(text);
  }

  /** Forgets what arrived. */
  restart(): void {
    this.#text = NO_TEXT;
    this.#scanner = new JsonScanner();
  }

  has(text: string): boolean {
    return text.length === this.length && text === this.arguments;
  }
}
