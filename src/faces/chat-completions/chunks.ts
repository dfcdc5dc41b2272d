import { dataFrame, type FrameForm } from "@antiphon/base/event-frames.ts";
import type { ChatAnswer, ChatDelta } from "@antiphon/contracts/chat-completions/types.ts";
import type { LogProb, OutputItem, Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { BREAK_JSON, EMPTY_JSON, PART_TYPES } from "../text-break.ts";
import { type ChatView, chatCompletion, chatUsage, completionId } from "./completion.ts";

const DONE = "[DONE]";
/** The end of a stream that did not fail. */
export const DONE_FRAME = dataFrame(DONE);

/** How streams of chunks end. */
export const CHAT_FRAMES: FrameForm = { end: DONE, errorFrame: (body) => dataFrame(JSON.stringify(body)) };

/** How the chunks of a request are written. */
export interface ChunkOptions extends ChatView {
  /** Whether the usage follows the last choice. */
  readonly includeUsage: boolean;
}

/**
 * Writes the events of a run as the chunks of one choice. The same events give the same frames, wherever the events
 * come from and however they are batched.
 */
export class ChunkWriter {
  readonly #index: number;
  readonly #options: ChunkOptions;
  /** The members that all chunks share, after their opening brace. Empty before the first event. */
  #head = "";
  /** What follows the choices of each chunk. */
  readonly #tail: string;
  /** Whether any text was sent, and whether one of the open message. */
  #hasText = false;
  #messageBegan = false;
  /** The same for reasoning and its open part. */
  #hasReasoning = false;
  #reasoningBegan = false;
  /** The calls so far that the client is to make. */
  #calls = 0;
  /** Whether the latest call is the one that the deprecated form shows. */
  #isFunctionOpen = false;
  /** The final snapshot; null while the run goes on. */
  ended: Response | null = null;

  /** `id` and `created` are those of the first choice, which all chunks share. */
  constructor(index: number, options: ChunkOptions) {
    this.#index = index;
    this.#options = options;
    this.#tail = options.includeUsage ? ',"usage":null}' : "}";
  }

  /** Gives all chunks the members of this response. Without it, the first event does. */
  begin({ id, created_at, model, service_tier }: Response): void {
    const head = JSON.stringify({
      id: completionId(id),
      object: "chat.completion.chunk",
      created: created_at,
      model,
      service_tier: service_tier ?? null,
      system_fingerprint: null,
    });
    this.#head = `${head.slice(0, -1)},"choices":`;
  }

  /** The frames of an event; an empty text if it shows nothing here. */
  framesOf(event: RecordedEvent): string {
    if (event.template === null) return this.#ofWhole(event.event);
    return this.#ofText(event.type, event.textJson, event.text);
  }

  #ofWhole(event: ResponseStreamEvent): string {
    if (event.type === "response.created") {
      if (this.#head === "") this.begin(event.response);
      return this.#delta({ role: "assistant", content: this.#options.speaks ? null : "", refusal: null });
    }
    if (event.type === "response.output_item.added") {
      this.#messageBegan = false;
      this.#reasoningBegan = false;
      return this.#callStart(event.item);
    }
    if (event.type === "response.completed" || event.type === "response.incomplete") return this.#end(event.response);
    if (event.type === "response.failed") this.ended = event.response;
    if (PART_TYPES.has(event.type)) this.#reasoningBegan = false;
    if (!("delta" in event) || typeof event.delta !== "string") return "";
    return this.#ofText(
      event.type,
      JSON.stringify(event.delta),
      event.delta,
      "logprobs" in event ? event.logprobs : [],
    );
  }

  #ofText(type: string, textJson: string, text: string, logprobs: readonly LogProb[] = []): string {
    switch (type) {
      case "response.output_text.delta":
        return this.#textFrames(textJson, text, logprobs);
      case "response.refusal.delta":
        return this.#frame(`{"refusal":${textJson}}`);
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return this.#reasoningFrames(textJson);
      case "response.function_call_arguments.delta":
        return this.#callPiece("function", "arguments", textJson);
      case "response.custom_tool_call_input.delta":
        return this.#callPiece("custom", "input", textJson);
      case "response.audio.delta":
        return this.#options.speaks ? this.#frame(`{"audio":{"data":${textJson}}}`) : "";
      default:
        return "";
    }
  }

  /** A later message of the run follows a blank line. */
  #textFrames(textJson: string, text: string, logprobs: readonly LogProb[]): string {
    const frame = this.#textFrame(textJson, logprobsJson(logprobs));
    if (this.#messageBegan || text === "") return frame;
    const breaks = this.#hasText ? this.#textFrame(BREAK_JSON) : "";
    this.#messageBegan = true;
    this.#hasText = true;
    return `${breaks}${frame}`;
  }

  /** The text of a spoken answer is its transcript. */
  #textFrame(textJson: string, logprobs?: string): string {
    const deltaJson = this.#options.speaks ? `{"audio":{"transcript":${textJson}}}` : `{"content":${textJson}}`;
    return this.#frame(deltaJson, logprobs);
  }

  #reasoningFrames(textJson: string): string {
    const frame = this.#reasoningFrame(textJson);
    if (this.#reasoningBegan || textJson === EMPTY_JSON) return frame;
    const breaks = this.#hasReasoning ? this.#reasoningFrame(BREAK_JSON) : "";
    this.#reasoningBegan = true;
    this.#hasReasoning = true;
    return `${breaks}${frame}`;
  }

  #reasoningFrame(textJson: string): string {
    return this.#frame(`{"reasoning_content":${textJson},"reasoning":${textJson}}`);
  }

  #callStart(item: OutputItem): string {
    if (item.type !== "function_call" && item.type !== "custom_tool_call") return "";
    const index = this.#calls;
    this.#calls += 1;
    const { call_id: id, name } = item;
    if (this.#options.usesFunctions) return this.#functionCall(index, item.type, name);
    return this.#delta({
      tool_calls: [
        item.type === "function_call"
          ? { index, id, type: "function", function: { name, arguments: "" } }
          : { index, id, type: "custom", custom: { name, input: "" } },
      ],
    });
  }

  /** The deprecated form has room for the first call, if it is one of a function. */
  #functionCall(index: number, type: OutputItem["type"], name: string): string {
    this.#isFunctionOpen = index === 0 && type === "function_call";
    return this.#isFunctionOpen ? this.#delta({ function_call: { name, arguments: "" } }) : "";
  }

  /** A piece of the latest call: calls follow each other. */
  #callPiece(kind: "function" | "custom", member: "arguments" | "input", textJson: string): string {
    if (this.#options.usesFunctions)
      return this.#isFunctionOpen ? this.#frame(`{"function_call":{"arguments":${textJson}}}`) : "";
    return this.#frame(`{"tool_calls":[{"index":${this.#calls - 1},"${kind}":{"${member}":${textJson}}}]}`);
  }

  /** What is known at the end alone, and the reason of the end. */
  #end(response: Response): string {
    this.ended = response;
    const [choice] = chatCompletion([response], this.#options).choices;
    const delta = choice === undefined ? {} : endDelta(choice.message);
    const last = Object.keys(delta).length === 0 ? "" : this.#delta(delta);
    return `${last}${this.#frame("{}", "null", JSON.stringify(choice?.finish_reason ?? "stop"))}`;
  }

  #delta(delta: ChatDelta): string {
    return this.#frame(JSON.stringify(delta));
  }

  #frame(deltaJson: string, logprobs = "null", finishReason = "null"): string {
    const choice = `{"index":${this.#index},"delta":${deltaJson},"logprobs":${logprobs},"finish_reason":${finishReason}}`;
    return dataFrame(`${this.#head}[${choice}]${this.#tail}`);
  }

  /** The chunk without choices that follows the last one. */
  usageFrame(responses: readonly Response[]): string {
    return dataFrame(`${this.#head}[],"usage":${JSON.stringify(chatUsage(responses))}}`);
  }
}

function endDelta({ annotations, hosted_items: hostedItems, audio }: ChatAnswer): ChatDelta {
  return {
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(hostedItems === undefined ? {} : { hosted_items: hostedItems }),
    ...(audio === undefined ? {} : { audio: { id: audio.id, expires_at: audio.expires_at } }),
  };
}

function logprobsJson(tokens: readonly LogProb[]): string {
  return tokens.length === 0 ? "null" : JSON.stringify({ content: tokens, refusal: null });
}
