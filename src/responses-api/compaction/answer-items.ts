import { assertNever } from "@antiphon/base/assert.ts";
import { randomHex } from "@antiphon/base/ids.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { answeredBy, handleOf, isToolCall, type OpenCall } from "./compacted-context.ts";

type Named<Event extends { readonly callId: string | null }> = Event & { readonly callId: string };
type ToolSearch = Extract<ModelEvent, { type: "tool_search" }>;
type CallStarted = Extract<ModelEvent, { type: "call_started" }>;

/** Collects a model's answer of one turn as items that it can be shown again. Leaves out reasoning. */
export class AnswerItems {
  readonly #items: StoredItem[] = [];
  readonly #callIds = new Set<string>();
  #text = "";
  #call: { readonly start: Named<CallStarted>; input: string } | null = null;
  #characters = 0;

  /**
   * Characters of the answer so far, reasoning included. The transcript of spoken text does not count, because it
   * repeats the text.
   */
  get characters(): number {
    return this.#characters;
  }

  /** Returns the event; a call gets a new id if its own is missing or already used. */
  add(event: ModelEvent): ModelEvent {
    if ("text" in event && event.type !== "audio_transcript_delta") this.#characters += event.text.length;
    switch (event.type) {
      case "text_delta":
      case "refusal_delta":
        this.#endCall();
        this.#text += event.text;
        return event;
      case "call_started": {
        this.#endBlocks();
        const start = { ...event, callId: this.#freeCallId(event.callId) };
        this.#call = { start, input: "" };
        return start;
      }
      case "tool_search": {
        this.#endBlocks();
        const search = { ...event, callId: this.#freeCallId(event.callId) };
        this.#items.push(searchItem(search, this.#items.length));
        return search;
      }
      case "call_delta":
        if (this.#call !== null) this.#call.input += event.text;
        return event;
      case "message_started":
        this.#endBlocks();
        return event;
      case "item_started":
        this.#endBlocks();
        return event;
      case "turn_cut":
        this.#text = "";
        this.#call = null;
        return event;
      case "item_finished":
        this.#items.push(event.item);
        return event;
      case "item_delta":
      case "item_written":
      case "item_step":
      case "tool_usage":
      case "message_finished":
      case "annotation":
      case "reasoning_delta":
      case "reasoning_summary_delta":
      case "reasoning_summary_break":
      case "reasoning_sealed":
      case "call_finished":
      case "compaction":
      case "audio_delta":
      case "audio_transcript_delta":
      case "audio_done":
      case "model_resolved":
      case "usage":
      case "stop_sequence":
      case "finished":
        return event;
      default:
        return assertNever(event);
    }
  }

  /** The calls that need the client's answer, and everything else. */
  take(): { readonly items: readonly StoredItem[]; readonly calls: readonly OpenCall[] } {
    this.#endBlocks();
    const answeredHandles = new Set(this.#items.map(answeredBy));
    const calls = this.#items.filter(isToolCall).filter((call) => !answeredHandles.has(handleOf(call)));
    const open = new Set<StoredItem>(calls);
    return { items: this.#items.filter((item) => !open.has(item)), calls };
  }

  /** A compaction names the open calls by id, so each gets its id here, before the run would assign one. */
  #freeCallId(id: string | null): string {
    const isFree = id !== null && id !== "" && !this.#callIds.has(id);
    const callId = isFree ? id : `call_${randomHex(24)}`;
    this.#callIds.add(callId);
    return callId;
  }

  #endBlocks(): void {
    this.#endCall();
    const text = this.#text;
    this.#text = "";
    if (text === "") return;
    this.#items.push({
      id: `msg_${this.#items.length}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    });
  }

  #endCall(): void {
    const call = this.#call;
    this.#call = null;
    if (call === null) return;
    const { kind, callId, name, namespace } = call.start;
    const common = {
      status: "completed" as const,
      call_id: callId,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    };
    const place = this.#items.length;
    this.#items.push(
      kind === "function"
        ? {
            id: `fc_${place}`,
            type: "function_call",
            arguments: call.input.trim() === "" ? "{}" : call.input,
            ...common,
          }
        : { id: `ctc_${place}`, type: "custom_tool_call", input: call.input, ...common },
    );
  }
}

function searchItem({ callId, arguments: sought }: Named<ToolSearch>, place: number): StoredItem {
  return {
    id: `tsc_${place}`,
    type: "tool_search_call",
    status: "completed",
    arguments: sought,
    call_id: callId,
    execution: "client",
  };
}
