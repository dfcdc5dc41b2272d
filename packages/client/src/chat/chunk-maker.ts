import type * as ResponsesApi from "@antiphon/contracts/responses-api/types.ts";
import type { FinishReason, UIMessageChunk } from "ai";
import { annotationChunks, itemDoneChunks, itemOpenedChunks, toolCallIdOf } from "./item-chunks.ts";

type Event = ResponsesApi.AnyStreamEvent;
type EndEvent = Extract<Event, { type: "response.completed" | "response.incomplete" | "response.failed" }>;
type Kind = "text" | "reasoning";

/**
 * Turns the events of one response into chunks of the AI SDK's UI message stream. Unknown events, and events without a
 * matching chunk, give none.
 */
export class ChunkMaker {
  /** Texts and reasoning that were started and not ended, by id. */
  readonly #open = new Map<string, Kind>();
  /** Ids of tool calls, by the ids of their items. */
  readonly #calls = new Map<string, string>();
  #waitsForClient = false;

  /** The chunks of an event, in order. */
  take(event: Event): UIMessageChunk[] {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- Servers send further events, also newer ones.
    switch (event.type) {
      case "response.content_part.added":
        return this.#start(event.part.type === "reasoning_text" ? "reasoning" : "text", partId(event));
      case "response.reasoning_summary_part.added":
        return this.#start("reasoning", summaryId(event));
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.reasoning_text.delta":
        return this.#delta(partId(event), event.delta);
      case "response.reasoning_summary_text.delta":
        return this.#delta(summaryId(event), event.delta);
      case "response.content_part.done":
        return this.#end(partId(event));
      case "response.reasoning_summary_part.done":
        return this.#end(summaryId(event));
      case "response.output_text.annotation.added":
        return annotationChunks(event.annotation, `${partId(event)}:${event.annotation_index}`);
      case "response.output_item.added":
        return this.#openItem(event.item);
      case "response.output_item.done":
        return this.#closeItem(event.item);
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
      case "response.mcp_call_arguments.delta":
      case "response.code_interpreter_call_code.delta":
      case "response.tool_call.delta":
        return this.#callDelta(event.item_id, event.delta);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#finish(event);
      default:
        return [];
    }
  }

  /** The ends of everything that is still open. */
  close(): UIMessageChunk[] {
    return [...this.#open.keys()].flatMap((id) => this.#end(id));
  }

  #start(kind: Kind, id: string): UIMessageChunk[] {
    this.#open.set(id, kind);
    return [{ type: `${kind}-start`, id }];
  }

  #delta(id: string, delta: string): UIMessageChunk[] {
    const kind = this.#open.get(id);
    return kind === undefined ? [] : [{ type: `${kind}-delta`, id, delta }];
  }

  #end(id: string): UIMessageChunk[] {
    const kind = this.#open.get(id);
    this.#open.delete(id);
    return kind === undefined ? [] : [{ type: `${kind}-end`, id }];
  }

  #openItem(item: ResponsesApi.OutputItem): UIMessageChunk[] {
    const callId = toolCallIdOf(item);
    if (callId !== null && typeof item.id === "string") this.#calls.set(item.id, callId);
    return itemOpenedChunks(item);
  }

  #closeItem(item: ResponsesApi.OutputItem): UIMessageChunk[] {
    if (item.type === "function_call" || item.type === "custom_tool_call") this.#waitsForClient = true;
    return itemDoneChunks(item);
  }

  #callDelta(itemId: string, inputTextDelta: string): UIMessageChunk[] {
    const toolCallId = this.#calls.get(itemId);
    return toolCallId === undefined ? [] : [{ type: "tool-input-delta", toolCallId, inputTextDelta }];
  }

  #finish({ type, response }: EndEvent): UIMessageChunk[] {
    const ends = this.close();
    if (response.status === "cancelled") return [...ends, { type: "abort" }];
    if (type === "response.failed")
      return [...ends, { type: "error", errorText: response.error?.message ?? "The response failed." }];
    const { id: responseId, model, usage } = response;
    const finishReason = finishReasonOf(response, this.#waitsForClient);
    return [
      ...ends,
      { type: "finish-step" },
      { type: "finish", finishReason, messageMetadata: { responseId, model, usage } },
    ];
  }
}

function finishReasonOf({ incomplete_details: cut }: ResponsesApi.Response, waitsForClient: boolean): FinishReason {
  if (cut?.reason === "max_output_tokens") return "length";
  if (cut?.reason === "content_filter") return "content-filter";
  if (cut !== null) return "other";
  return waitsForClient ? "tool-calls" : "stop";
}

function partId({ item_id, content_index }: { readonly item_id: string; readonly content_index: number }): string {
  return `${item_id}:${content_index}`;
}

function summaryId({ item_id, summary_index }: { readonly item_id: string; readonly summary_index: number }): string {
  return `${item_id}:summary:${summary_index}`;
}
