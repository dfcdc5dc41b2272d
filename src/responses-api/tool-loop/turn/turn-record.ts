import type { HostedCall } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { DecidedCall, DecidedPart, TurnDecision, TurnFinish } from "@antiphon/domain/tool-ledger.ts";

type Delta = Extract<ModelEvent, { readonly text: string }>;
type Said = Extract<DecidedPart, { type: "said" }>;

/** Collects a model's decisions of one turn in a compact form. */
export class TurnRecord {
  readonly #parts: DecidedPart[] = [];
  /** The item that the model is writing. */
  #open: { readonly item: Said["item"]; readonly events: ModelEvent[] } | null = null;
  /** Consecutive deltas become one event. */
  #text: { readonly event: Delta; whole: string } | null = null;

  add(event: ModelEvent): void {
    switch (event.type) {
      case "text_delta":
        return this.#grow("message", { type: "text_delta", text: event.text });
      case "refusal_delta":
        return this.#grow("message", event);
      case "reasoning_delta":
      case "reasoning_summary_delta":
      case "reasoning_summary_break":
      case "reasoning_sealed":
        return this.#grow("reasoning", event);
      case "call_delta":
        return this.#grow("call", event);
      case "message_started":
        this.#end();
        return this.#grow("message", event);
      case "call_started":
      case "tool_search":
        this.#end();
        return this.#grow("call", event);
      case "call_finished":
        this.#grow("call", event);
        return this.#end();
      case "message_finished":
        return this.#end();
      case "turn_cut": // Another attempt begins.
        this.#open = null;
        this.#text = null;
        this.#parts.length = 0;
        return;
      default: // The rest creates no item.
    }
  }

  addCall(
    { callId, name, server, arguments: args }: HostedCall,
    { itemId, refusal }: Pick<DecidedCall, "itemId" | "refusal">,
  ): void {
    this.#end();
    this.#parts.push({ type: "call", itemId, callId, name, server, arguments: args, refusal });
  }

  take(finish: TurnFinish): TurnDecision {
    this.#end();
    return { finish, parts: this.#parts };
  }

  #grow(item: Said["item"], event: ModelEvent): void {
    if (this.#open !== null && this.#open.item !== item) this.#end();
    this.#open ??= { item, events: [] };
    if (!("text" in event)) {
      this.#endText();
      this.#open.events.push(event);
    } else if (this.#text?.event.type === event.type) this.#text.whole += event.text;
    else {
      this.#endText();
      this.#text = { event, whole: event.text };
    }
  }

  #endText(): void {
    if (this.#text !== null) this.#open?.events.push({ ...this.#text.event, text: this.#text.whole });
    this.#text = null;
  }

  #end(): void {
    this.#endText();
    if (this.#open !== null) this.#parts.push({ type: "said", ...this.#open });
    this.#open = null;
  }
}
