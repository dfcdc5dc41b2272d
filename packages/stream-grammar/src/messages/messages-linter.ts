import { isRecord } from "@antiphon/base/json/records.ts";
import { FaultList, type StreamReport } from "../fault-list.ts";
import { quoteValue } from "../items/texts.ts";
import { MessagesBlocks } from "./messages-blocks.ts";

type Members = Readonly<Record<string, unknown>>;

const REASONS: ReadonlySet<unknown> = new Set([
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "pause_turn",
  "refusal",
  "model_context_window_exceeded",
]);

/** Whether the first data of a stream is that of a stream of a message. */
export function isMessagesData(data: unknown): boolean {
  return isRecord(data) && data["type"] === "message_start";
}

/** Checks one stream of a message. */
export class MessagesLinter {
  readonly #faults = new FaultList();
  readonly report = this.#faults.report;
  readonly #blocks = new MessagesBlocks(this.report);
  #hasBegun = false;
  /** The reason of the end; null before it. */
  #reason: unknown = null;
  #isOver = false;

  /** Takes the name and the parsed data of one frame. */
  take(name: string | null, data: unknown): void {
    const event: Members = isRecord(data) ? data : {};
    const type = event["type"];
    this.#faults.type = typeof type === "string" ? type : null;
    if (type !== name)
      this.report("messages-name", `the event line says ${quoteValue(name)}, but the type is ${quoteValue(type)}`);
    if (this.#isOver) this.report("messages-end", "an event follows the end of the stream");
    this.#takeEvent(event);
    this.#faults.endEvent();
  }

  /** Takes the data line `[DONE]`. */
  takeDone(): void {
    this.report("messages-end", "[DONE] is no event of a message");
  }

  /** Call this once, after the last frame. */
  end(): StreamReport {
    if (!this.#isOver) this.report("messages-end", "the stream ends without message_stop");
    return this.#faults.streamReport(null);
  }

  #takeEvent(event: Members): void {
    const { type } = event;
    if (type === "ping") return;
    if (type === "error") {
      this.#isOver = true;
      if (!isRecord(event["error"])) this.report("messages-event", "an error event has no error");
      return;
    }
    if (type === "message_start") return this.#begin(event["message"]);
    if (!this.#hasBegun) this.report("messages-start", `${quoteValue(type)} comes before message_start`);
    switch (type) {
      case "content_block_start":
      case "content_block_delta":
      case "content_block_stop":
        if (this.#reason !== null) this.report("messages-end", "a block follows message_delta");
        return this.#blocks.take(type, event);
      case "message_delta":
        return this.#takeEnd(event);
      case "message_stop":
        if (this.#reason === null) this.report("messages-end", "message_stop comes before message_delta");
        this.#isOver = true;
        return;
      default:
        this.report("messages-event", `${quoteValue(type)} is no event of a message`);
    }
  }

  #begin(message: unknown): void {
    if (this.#hasBegun) this.report("messages-start", "message_start comes twice");
    this.#hasBegun = true;
    if (!isRecord(message)) return this.report("messages-start", "message_start has no message");
    const { content, usage, role, stop_reason: reason } = message;
    if (!Array.isArray(content) || content.length > 0)
      this.report("messages-start", "the content is not empty at the start");
    if (role !== "assistant") this.report("messages-start", `the role is ${quoteValue(role)}`);
    if (reason !== null) this.report("messages-start", "there is a stop_reason at the start");
    if (!isRecord(usage) || typeof usage["input_tokens"] !== "number")
      this.report("messages-start", "the usage has no input_tokens");
  }

  #takeEnd({ delta, usage }: Members): void {
    this.#blocks.end();
    if (this.#reason !== null) this.report("messages-end", "message_delta comes twice");
    const reason = isRecord(delta) ? delta["stop_reason"] : undefined;
    this.#reason = reason ?? "none";
    if (!REASONS.has(reason)) this.report("messages-reason", `stop_reason is ${quoteValue(reason)}`);
    if (isRecord(delta) && (reason === "stop_sequence") !== (typeof delta["stop_sequence"] === "string"))
      this.report("messages-reason", `stop_sequence is ${quoteValue(delta["stop_sequence"])} at ${quoteValue(reason)}`);
    if (this.#blocks.hasCall && reason === "end_turn")
      this.report("messages-reason", "stop_reason is end_turn after a call");
    if (!isRecord(usage) || typeof usage["output_tokens"] !== "number")
      this.report("messages-reason", "message_delta has no usage");
  }
}
