import { isRecord } from "@antiphon/base/json/records.ts";
import { quoteValue } from "../items/texts.ts";
import type { Report } from "../rules.ts";

type Members = Readonly<Record<string, unknown>>;

const REASONS: ReadonlySet<unknown> = new Set(["stop", "length", "tool_calls", "content_filter", "function_call"]);
/** Reasons of an answer that was cut, also within a call. */
const CUT: ReadonlySet<unknown> = new Set(["length", "content_filter"]);
const TEXTS = ["content", "refusal", "reasoning_content", "reasoning"] as const;
const CALL_MEMBERS = { function: "arguments", custom: "input" } as const;

/** Checks the chunks of one choice. */
export class ChatChoice {
  readonly #report: Report;
  readonly #place: string;
  /** The ids of the calls so far. */
  readonly #calls: string[] = [];
  #hasBegun = false;
  #hasFunctionCall = false;
  hasFinished = false;

  constructor(index: number, report: Report) {
    this.#place = `choice ${index}`;
    this.#report = report;
  }

  /** Takes the choice's part of a chunk. */
  take({ delta, finish_reason: reason }: Members): void {
    if (this.hasFinished) this.#report("chat-finish", `${this.#place} goes on after its finish_reason`);
    if (!isRecord(delta)) return this.#report("chat-chunk", `${this.#place} has no delta`);
    if (!this.#hasBegun && delta["role"] !== "assistant")
      this.#report("chat-role", `the first delta of ${this.#place} has the role ${quoteValue(delta["role"])}`);
    this.#hasBegun = true;
    for (const name of TEXTS) {
      const text = delta[name] ?? "";
      if (typeof text !== "string") this.#report("chat-delta", `'${name}' is ${quoteValue(text)}`);
    }
    if (isRecord(delta["function_call"])) this.#hasFunctionCall = true;
    const pieces = delta["tool_calls"];
    if (Array.isArray(pieces)) for (const piece of pieces) this.#takePiece(isRecord(piece) ? piece : {});
    if (reason !== null && reason !== undefined) this.#finish(reason, delta);
  }

  /** Call this once, after the last chunk. */
  end(): void {
    if (!this.hasFinished) this.#report("chat-finish", `${this.#place} has no finish_reason`);
  }

  #takePiece(piece: Members): void {
    const { index, id } = piece;
    if (typeof index !== "number") return this.#report("chat-call", "a piece of a call has no index");
    const known = this.#calls[index];
    if (known === undefined) this.#beginCall(index, piece);
    else if (id !== undefined && id !== known) this.#report("chat-call", `the id of call ${index} changes`);
  }

  #beginCall(index: number, piece: Members): void {
    const { id, type } = piece;
    if (index !== this.#calls.length)
      this.#report("chat-call", `a call begins at ${index}, but should at ${this.#calls.length}`);
    this.#calls[index] = typeof id === "string" ? id : "";
    const called = type === "function" || type === "custom" ? piece[type] : undefined;
    const name = isRecord(called) ? called["name"] : undefined;
    if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "")
      return this.#report("chat-call", `call ${index} begins without an id, a type or a name`);
    const member = type === "custom" ? CALL_MEMBERS.custom : CALL_MEMBERS.function;
    if (!isRecord(called) || typeof called[member] !== "string")
      this.#report("chat-call", `call ${index} begins without '${member}'`);
  }

  #finish(reason: unknown, delta: Members): void {
    this.hasFinished = true;
    if (!REASONS.has(reason)) this.#report("chat-finish", `finish_reason is ${quoteValue(reason)}`);
    if (Object.keys(delta).length > 0) this.#report("chat-finish", "the chunk with the finish_reason has a delta");
    const expected = this.#calls.length > 0 ? "tool_calls" : this.#hasFunctionCall ? "function_call" : null;
    if (expected !== null && reason !== expected && !CUT.has(reason))
      this.#report("chat-finish", `finish_reason is ${quoteValue(reason)} after a call`);
  }
}
