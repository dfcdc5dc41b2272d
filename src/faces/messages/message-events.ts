import { type FrameForm, frameOf } from "@antiphon/base/event-frames.ts";
import type { MessagesBlock, MessagesDelta, MessagesStreamEvent } from "@antiphon/contracts/messages/types.ts";
import type { Annotation, OutputItem, Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { BREAK_JSON, EMPTY_JSON, PART_TYPES } from "../text-break.ts";
import { citation, type MessageNotes, messageEnd, messageStart, messageUsage, toolUse } from "./message.ts";
import { serverExchange } from "./server-blocks.ts";

/** How streams of messages end and go on. */
export const MESSAGE_FRAMES: FrameForm = {
  end: null,
  errorFrame: (body) => frameOf("error", JSON.stringify(body)),
  keepAlive: frameOf("ping", JSON.stringify({ type: "ping" })),
};

/** The end of a stream that did not fail. */
export const STOP_FRAME = frameOf("message_stop", JSON.stringify({ type: "message_stop" }));

/** How the events of a request are written. */
export interface MessageEventOptions extends MessageNotes {
  /** The tokens of the request, as far as they are known before the model has counted. */
  readonly inputTokens: number;
}

type BlockKind = "text" | "thinking" | "tool_use";

/**
 * Writes the events of a run as those of a message. The same events give the same frames, wherever the events come from
 * and however they are batched.
 */
export class MessageWriter {
  readonly #options: MessageEventOptions;
  /** The blocks that have begun, and the kind of the open one. */
  #blocks = 0;
  #open: BlockKind | null = null;
  /** Whether the open thinking has any text, and whether its open part has. */
  #hasThinking = false;
  #partBegan = false;
  /** The final snapshot; null while the run goes on. */
  ended: Response | null = null;

  constructor(options: MessageEventOptions) {
    this.#options = options;
  }

  /** The frames of an event; an empty text if it shows nothing here. */
  framesOf(event: RecordedEvent): string {
    if (event.template === null) return this.#ofWhole(event.event);
    return this.#ofText(event.type, event.textJson);
  }

  #ofWhole(event: ResponseStreamEvent): string {
    if (event.type === "response.output_item.done") return this.#itemEnd(event.item);
    if (event.type === "response.output_item.added")
      return event.item.type === "function_call" ? this.#begin("tool_use", toolUse(event.item)) : "";
    if (event.type === "response.content_part.done") return this.#open === "text" ? this.#stop() : "";
    if (event.type === "response.output_text.annotation.added") return this.#citations(event.annotation);
    if (event.type === "response.created") return this.#start(event.response);
    if (event.type === "response.completed" || event.type === "response.incomplete") return this.#end(event.response);
    if (event.type === "response.failed") this.ended = event.response;
    if (PART_TYPES.has(event.type)) this.#partBegan = false;
    if (!("delta" in event) || typeof event.delta !== "string") return "";
    return this.#ofText(event.type, JSON.stringify(event.delta));
  }

  #start({ id }: Response): string {
    const message = messageStart(id, this.#options, this.#options.inputTokens);
    return eventFrame({ type: "message_start", message });
  }

  #citations(annotation: Annotation): string {
    return citation(annotation)
      .map((one) => this.#text() + this.#delta({ type: "citations_delta", citation: one }))
      .join("");
  }

  #ofText(type: string, textJson: string): string {
    switch (type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return textJson === EMPTY_JSON
          ? ""
          : this.#text() + this.#deltaFrame(`{"type":"text_delta","text":${textJson}}`);
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return textJson === EMPTY_JSON ? "" : this.#thinkingFrames(textJson);
      case "response.function_call_arguments.delta":
        return this.#deltaFrame(`{"type":"input_json_delta","partial_json":${textJson}}`);
      default:
        return "";
    }
  }

  /** Begins a text unless one is open. */
  #text(): string {
    return this.#open === "text" ? "" : this.#begin("text", { type: "text", text: "", citations: null });
  }

  #thinking(): string {
    if (this.#open === "thinking") return "";
    this.#hasThinking = false;
    return this.#begin("thinking", { type: "thinking", thinking: "", signature: "" });
  }

  #thinkingFrames(textJson: string): string {
    const start = this.#thinking();
    const needsBreak = this.#hasThinking && !this.#partBegan;
    this.#hasThinking = true;
    this.#partBegan = true;
    if (this.#options.omitsThinking) return start;
    const frame = (json: string) => this.#deltaFrame(`{"type":"thinking_delta","thinking":${json}}`);
    return `${start}${needsBreak ? frame(BREAK_JSON) : ""}${frame(textJson)}`;
  }

  #itemEnd(item: OutputItem): string {
    if (item.type === "reasoning") return this.#signature(item.encrypted_content ?? "");
    if (item.type === "function_call") return this.#stop();
    const exchange = serverExchange(item);
    return exchange === null ? "" : exchange.map((block) => this.#whole(block)).join("");
  }

  /** The end of reasoning, which is a block if it has a text or a signature. */
  #signature(signature: string): string {
    if (this.#open !== "thinking" && signature === "") return "";
    const start = this.#thinking();
    const frame = signature === "" ? "" : this.#delta({ type: "signature_delta", signature });
    return start + frame + this.#stop();
  }

  /** A block that is complete when it begins. Clients expect the input of a call after its start, but for MCP. */
  #whole(block: MessagesBlock): string {
    if (block.type !== "server_tool_use") return this.#begin(null, block) + this.#stop();
    const start = this.#begin(null, { ...block, input: {} });
    return start + this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(block.input) }) + this.#stop();
  }

  #begin(kind: BlockKind | null, block: MessagesBlock): string {
    const before = this.#open === null ? "" : this.#stop();
    this.#open = kind;
    this.#blocks += 1;
    return before + eventFrame({ type: "content_block_start", index: this.#blocks - 1, content_block: block });
  }

  #stop(): string {
    this.#open = null;
    return eventFrame({ type: "content_block_stop", index: this.#blocks - 1 });
  }

  #delta(delta: MessagesDelta): string {
    return this.#deltaFrame(JSON.stringify(delta));
  }

  #deltaFrame(deltaJson: string): string {
    const json = `{"type":"content_block_delta","index":${this.#blocks - 1},"delta":${deltaJson}}`;
    return frameOf("content_block_delta", json);
  }

  #end(response: Response): string {
    this.ended = response;
    const {
      cache_creation: _creation,
      service_tier: _tier,
      inference_geo: _geo,
      speed: _speed,
      ...usage
    } = messageUsage(response);
    const before = this.#open === null ? "" : this.#stop();
    return before + eventFrame({ type: "message_delta", delta: messageEnd(response), usage });
  }
}

function eventFrame(event: MessagesStreamEvent): string {
  return frameOf(event.type, JSON.stringify(event));
}
