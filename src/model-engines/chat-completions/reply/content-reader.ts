import type { LogProb } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ReasoningTags } from "../profile.ts";

const OPENING_TAG = "<think>";
const CLOSING_TAG = "</think>";

/** Splits `content` with `<think>` tags into answer and reasoning, wherever the deltas are split. */
export class ContentReader {
  readonly #emit: (event: ModelEvent) => void;
  #phase: "undecided" | "thinking" | "after_thinking" | "answer";
  /** Whether no reasoning was emitted yet. White space at its start is dropped. */
  #atStart = true;
  #buffer = "";
  #keptLogprobs: readonly LogProb[] | undefined;

  constructor(tags: ReasoningTags, emit: (event: ModelEvent) => void) {
    this.#emit = emit;
    this.#phase = tags === "off" ? "answer" : tags === "already_open" ? "thinking" : "undecided";
  }

  feed(text: string, logprobs: readonly LogProb[] | undefined): void {
    switch (this.#phase) {
      case "answer":
        this.#answer(text, logprobs);
        return;
      case "undecided":
        this.#decide(text, logprobs);
        return;
      case "thinking":
        this.#think(this.#buffer + text);
        return;
      case "after_thinking":
        this.#answerAfterThinking(text);
        return;
    }
  }

  /** Call before a tool call. Drops white space, which would otherwise become a message. */
  beforeCall(): void {
    if (this.#phase === "undecided" && this.#buffer.trim() === "") this.#buffer = "";
    else this.end();
  }

  /** Emits text that was delayed because it could have become a tag. */
  end(): void {
    const whole = this.#buffer;
    if (whole === "") return;
    this.#buffer = "";
    if (this.#phase === "thinking") {
      this.#emit({ type: "reasoning_delta", text: whole });
      return;
    }
    this.#phase = "answer";
    this.#emit(textDelta(whole, this.#keptLogprobs));
    this.#keptLogprobs = undefined;
  }

  #answer(text: string, logprobs: readonly LogProb[] | undefined): void {
    const last = text.charCodeAt(text.length - 1);
    if (this.#buffer === "" && (last < 0xd800 || last > 0xdbff)) {
      this.#emit(textDelta(text, logprobs));
      return;
    }
    this.#answerHalved(text, logprobs);
  }

  /**
   * Delays the first half of a surrogate pair until the second arrives, because half a pair cannot be encoded as UTF-8.
   */
  #answerHalved(text: string, logprobs: readonly LogProb[] | undefined): void {
    const whole = this.#buffer + text;
    const last = whole.charCodeAt(whole.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    const ready = isHalf ? whole.slice(0, -1) : whole;
    const readyLogprobs = joinLogprobs(this.#keptLogprobs, logprobs);
    this.#buffer = isHalf ? whole.slice(-1) : "";
    this.#keptLogprobs = ready === "" ? readyLogprobs : undefined;
    if (ready !== "") this.#emit(textDelta(ready, readyLogprobs));
  }

  #decide(text: string, logprobs: readonly LogProb[] | undefined): void {
    const whole = this.#buffer + text;
    const content = whole.trimStart();
    this.#keptLogprobs = joinLogprobs(this.#keptLogprobs, logprobs);
    if (content.startsWith(OPENING_TAG)) {
      this.#phase = "thinking";
      this.#buffer = "";
      this.#think(content.slice(OPENING_TAG.length));
    } else if (OPENING_TAG.startsWith(content)) {
      this.#buffer = whole;
    } else {
      this.#phase = "answer";
      this.#buffer = "";
      const keptLogprobs = this.#keptLogprobs;
      this.#keptLogprobs = undefined;
      this.#answer(whole, keptLogprobs);
    }
  }

  #think(text: string): void {
    const content = this.#atStart ? text.trimStart() : text;
    const closing = content.indexOf(CLOSING_TAG);
    const end = closing === -1 ? content.length - tagPrefixLength(content) : closing;
    if (end > 0) {
      this.#atStart = false;
      this.#emit({ type: "reasoning_delta", text: content.slice(0, end) });
    }
    if (closing === -1) {
      this.#buffer = content.slice(end);
      return;
    }
    this.#phase = "after_thinking";
    this.#buffer = "";
    this.#keptLogprobs = undefined;
    this.#answerAfterThinking(content.slice(closing + CLOSING_TAG.length));
  }

  #answerAfterThinking(text: string): void {
    const content = text.trimStart();
    if (content === "") return;
    this.#phase = "answer";
    this.#answer(content, undefined); // A cut piece does not match its log probabilities.
  }
}

/** Length of the end of `text` that may be the start of the closing tag or of a surrogate pair. */
function tagPrefixLength(text: string): number {
  const from = text.lastIndexOf("<");
  if (from !== -1 && CLOSING_TAG.startsWith(text.slice(from))) return text.length - from;
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? 1 : 0;
}

function textDelta(text: string, logprobs: readonly LogProb[] | undefined): ModelEvent {
  return logprobs === undefined ? { type: "text_delta", text } : { type: "text_delta", text, logprobs };
}

function joinLogprobs(
  one: readonly LogProb[] | undefined,
  other: readonly LogProb[] | undefined,
): readonly LogProb[] | undefined {
  if (one === undefined) return other;
  return other === undefined ? one : [...one, ...other];
}
