import { type GrowingText, grow, lengthOf, NO_TEXT, wholeTextOf } from "@antiphon/base/growing-text.ts";
import type { CalledTool } from "../../context/tool-names.ts";
import type { CustomInputReader } from "../../model-server/reply/custom-input-reader.ts";
import { JsonScanner } from "../../model-server/reply/json-scanner.ts";

/** Longer arguments are not a placeholder `{}` with white space. */
const PLACEHOLDER_CHARACTERS_MAX = 64;

/** The parts of one tool call that have arrived. */
export class IncomingCall {
  readonly id: string | null;
  name = "";
  state: "waiting" | "open" | "closed" = "waiting";
  tool: CalledTool | null = null;
  customInput: CustomInputReader | null = null;
  /** Whether arguments were emitted. From then on, each piece is emitted at once. */
  isSending = false;
  #text: GrowingText = NO_TEXT;
  #scanner = new JsonScanner();

  constructor(id: string | null) {
    this.id = id;
  }

  /** All arguments that have arrived. Joins the pieces, so do not call it for every piece. */
  get arguments(): string {
    return wholeTextOf(this.#text);
  }

  get length(): number {
    return lengthOf(this.#text);
  }

  /** Whether the arguments are a complete JSON object or array. */
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

  /** Discards the arguments. */
  restart(): void {
    this.#text = NO_TEXT;
    this.#scanner = new JsonScanner();
  }

  has(text: string): boolean {
    return text.length === this.length && text === this.arguments;
  }
}
