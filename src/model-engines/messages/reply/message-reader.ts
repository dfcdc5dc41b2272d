import { isRecord } from "@antiphon/base/json/records.ts";
import type { Annotation } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ToolNames } from "../../context/tool-names.ts";
import { brokenAnswer } from "../../model-server/errors/model-errors.ts";
import { isList, type JsonObject, textOrNull } from "../../model-server/json-values.ts";
import { sealedRedaction, sealedSignature } from "../sealed-thinking.ts";
import { MessageUsage } from "./message-usage.ts";
import { ToolUseReader } from "./tool-use-reader.ts";

type FinishReason = Extract<ModelEvent, { type: "finished" }>["reason"];

/** The estimated number of characters in a token. */
const CHARACTERS_PER_TOKEN = 4;

const PAUSED = "the model server paused its turn (pause_turn); the answer ends there";

export interface MessageReaderOptions {
  readonly toolNames: ToolNames;
  /** Called at the end with the server's token counts, if any. */
  readonly onUsage?: (usage: ModelUsage) => void;
  /** Called with a sentence on what was left out of the answer. */
  readonly onWarning: (warning: string) => void;
}

type OpenBlock =
  | { readonly type: "text"; readonly start: number; readonly citations: JsonObject[] }
  | { readonly type: "thinking"; signature: string }
  | { readonly type: "tool_use" }
  /** A block of a kind that was not asked for. */
  | { readonly type: "other" };

/** Turns the parsed events of a message, or a whole message, into model events. */
export class MessageReader {
  readonly #options: MessageReaderOptions;
  readonly #usage = new MessageUsage();
  #events: ModelEvent[] = [];
  #open: OpenBlock | null = null;
  /** Its number, which its deltas repeat. */
  #openIndex: unknown = null;
  /** The latest call: whether it is complete is only known from what follows. */
  #call: ToolUseReader | null = null;
  #textLength = 0;
  #characters = 0;
  #finishReason: FinishReason | null = null;
  #isFinished = false;

  constructor(options: MessageReaderOptions) {
    this.#options = options;
  }

  get hasFinishReason(): boolean {
    return this.#finishReason !== null;
  }

  get hasUsage(): boolean {
    return this.#usage.total !== null;
  }

  get outputTokens(): number {
    return Math.ceil(this.#characters / CHARACTERS_PER_TOKEN);
  }

  /** Reads one event that is not an error. Events of unknown types are ignored. */
  read(event: JsonObject): void {
    switch (event["type"]) {
      case "message_start":
        if (isRecord(event["message"])) this.#begin(event["message"]);
        return;
      case "content_block_start":
        if (isRecord(event["content_block"])) this.#beginBlock(event["content_block"], event["index"]);
        return;
      case "content_block_delta":
        if (isRecord(event["delta"])) this.#readDelta(event["delta"], event["index"]);
        return;
      case "content_block_stop":
        this.#endBlock();
        return;
      case "message_delta":
        this.#usage.add(event["usage"], true);
        if (isRecord(event["delta"])) this.#readEnd(event["delta"]);
        return;
      default: // Such as ping.
    }
  }

  /** Reads a message that was not streamed. */
  readWhole(message: JsonObject): void {
    this.#begin(message);
    for (const block of isList(message["content"]) ? message["content"] : []) {
      if (!isRecord(block)) continue;
      this.#beginBlock(block, null);
      this.#endBlock();
    }
    this.#usage.add(message["usage"], true);
    this.#readEnd(message);
  }

  /** Ends the turn. No event may be read afterwards. */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const reason = this.#finishReason ?? "stop";
    this.#endBlock();
    this.#endCall(reason !== "stop");
    const usage = this.#usage.total;
    if (usage !== null) {
      this.#options.onUsage?.(usage);
      this.#add({ type: "usage", usage });
    }
    this.#add({ type: "finished", reason });
  }

  take(): ModelEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #add(...events: readonly ModelEvent[]): void {
    this.#events.push(...events);
  }

  #begin(message: JsonObject): void {
    this.#usage.add(message["usage"], false);
    const model = textOrNull(message["model"]);
    const answerId = textOrNull(message["id"]);
    if (model !== null) this.#add({ type: "model_resolved", model, ...(answerId === null ? {} : { answerId }) });
  }

  /** A block may come with all that it holds. */
  #beginBlock(block: JsonObject, index: unknown): void {
    this.#endBlock();
    this.#endCall(false);
    this.#openIndex = index;
    switch (block["type"]) {
      case "text":
        this.#open = { type: "text", start: this.#textLength, citations: [] };
        this.#addText(block["text"]);
        if (isList(block["citations"])) for (const citation of block["citations"]) this.#cite(citation);
        return;
      case "thinking":
        this.#open = { type: "thinking", signature: textOrNull(block["signature"]) ?? "" };
        this.#addThinking(block["thinking"]);
        return;
      case "redacted_thinking":
        this.#open = { type: "other" };
        this.#add({ type: "reasoning_sealed", sealedText: sealedRedaction(textOrNull(block["data"]) ?? "") });
        this.#add({ type: "message_finished" });
        return;
      case "tool_use":
        this.#open = { type: "tool_use" };
        this.#beginCall(block);
        return;
      default:
        this.#open = { type: "other" };
        this.#options.onWarning(`the model server sent a block of type ${String(block["type"])}; it was left out`);
    }
  }

  #readDelta(delta: JsonObject, index: unknown): void {
    const open = this.#open;
    if (open === null || index !== this.#openIndex) throw brokenAnswer("sent a piece of a block that is not open");
    switch (open.type) {
      case "text":
        if (delta["type"] === "text_delta") this.#addText(delta["text"]);
        else if (delta["type"] === "citations_delta") this.#cite(delta["citation"]);
        return;
      case "thinking":
        if (delta["type"] === "thinking_delta") this.#addThinking(delta["thinking"]);
        else if (delta["type"] === "signature_delta") open.signature = textOrNull(delta["signature"]) ?? "";
        return;
      case "tool_use": {
        const piece = textOrNull(delta["partial_json"]) ?? "";
        this.#characters += piece.length;
        this.#add(...(this.#call?.add(piece) ?? []));
        return;
      }
      case "other":
        return;
    }
  }

  #endBlock(): void {
    const open = this.#open;
    this.#open = null;
    if (open?.type === "text") this.#addCitations(open);
    if (open?.type !== "thinking") return;
    if (open.signature !== "") this.#add({ type: "reasoning_sealed", sealedText: sealedSignature(open.signature) });
    this.#add({ type: "message_finished" }); // The next block of thinking has a seal of its own.
  }

  #addText(value: unknown): void {
    const text = textOrNull(value);
    if (text === null) return;
    this.#characters += text.length;
    this.#textLength += text.length;
    this.#add({ type: "text_delta", text });
  }

  #addThinking(value: unknown): void {
    const text = textOrNull(value);
    if (text === null) return;
    this.#characters += text.length;
    this.#add({ type: "reasoning_delta", text });
  }

  #beginCall(block: JsonObject): void {
    const name = textOrNull(block["name"]);
    if (name === null) throw brokenAnswer("called a tool without saying which");
    this.#textLength = 0; // Text after a call is another message.
    this.#characters += name.length;
    this.#call = new ToolUseReader(this.#options.toolNames.resolve(name), textOrNull(block["id"]));
    this.#add(...this.#call.begin());
    const { input } = block;
    if (isRecord(input) && Object.keys(input).length > 0) this.#add(...this.#call.add(JSON.stringify(input)));
  }

  #endCall(isTurnCut: boolean): void {
    const call = this.#call;
    this.#call = null;
    if (call !== null) this.#add(...call.end(isTurnCut));
  }

  #cite(citation: unknown): void {
    if (this.#open?.type === "text" && isRecord(citation)) this.#open.citations.push(citation);
  }

  /** Citations of web pages. Others name a document of the request, which has no place in an answer. */
  #addCitations({ start, citations }: Extract<OpenBlock, { type: "text" }>): void {
    if (this.#textLength === 0) return;
    for (const citation of citations) {
      const url = textOrNull(citation["url"]);
      if (url === null) continue;
      const title = textOrNull(citation["title"]) ?? "";
      const place = { start_index: start, end_index: this.#textLength };
      const annotation: Annotation = { type: "url_citation", ...place, title, url };
      this.#add({ type: "annotation", annotation });
    }
  }

  #readEnd(end: JsonObject): void {
    const reason = textOrNull(end["stop_reason"]);
    if (reason === null || this.#finishReason !== null) return;
    this.#endBlock();
    this.#finishReason = this.#finishOf(reason, end);
  }

  /** Every reason that means neither a limit nor a filter is an ordinary end. */
  #finishOf(reason: string, end: JsonObject): FinishReason {
    const sequence = textOrNull(end["stop_sequence"]);
    switch (reason) {
      case "max_tokens":
      case "model_context_window_exceeded":
        return "length";
      case "refusal": {
        this.#endCall(true);
        const details = end["stop_details"];
        const text = isRecord(details) ? textOrNull(details["explanation"]) : null;
        if (text !== null) this.#add({ type: "refusal_delta", text });
        return "content_filter";
      }
      case "stop_sequence":
        this.#endCall(false);
        if (sequence !== null) this.#add({ type: "stop_sequence", sequence });
        return "stop";
      case "pause_turn":
        this.#options.onWarning(PAUSED);
        return "stop";
      default:
        return "stop";
    }
  }
}
