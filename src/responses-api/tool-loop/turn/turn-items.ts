import { randomHex } from "@antiphon/base/ids.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";

/** A call without an output must be answered by the client. */
export function withoutOpenCalls(items: readonly ContextItem[]): readonly ContextItem[] {
  const answeredIds = new Set(items.flatMap((item) => (item.type === "hosted_output" ? [item.callId] : [])));
  return items.filter((item) => item.type !== "hosted_call" || answeredIds.has(item.callId));
}

/** Collects a model's output of one turn, without calls of hosted functions, as items for its next turn. */
export class TurnItems {
  readonly #items: ContextItem[] = [];
  #text = "";
  #reasoning = "";
  #summary = "";
  /** The form of the reasoning that only its model server reads. */
  #sealedText = "";
  #characters = 0;

  /** Characters of the turn so far. */
  get characters(): number {
    return this.#characters;
  }

  add(event: ModelEvent): void {
    if ("text" in event) this.#characters += event.text.length;
    switch (event.type) {
      case "text_delta":
      case "refusal_delta":
        this.#endReasoning();
        this.#text += event.text;
        return;
      case "reasoning_delta":
        this.#endText();
        this.#reasoning += event.text;
        return;
      case "reasoning_summary_delta":
        this.#endText();
        this.#summary += event.text;
        return;
      case "reasoning_sealed":
        this.#endText();
        this.#sealedText = event.sealedText;
        return;
      case "message_started":
      case "message_finished":
        this.#endReasoning();
        this.#endText();
        return;
      case "turn_cut":
        this.#text = ""; // Another attempt writes it again.
        return;
      default:
    }
  }

  /** Inserts a call after the preceding text. */
  addCall(call: ContextItem): void {
    this.#endReasoning();
    this.#endText();
    this.#items.push(call);
  }

  /** The items in the model's order. */
  take(): readonly ContextItem[] {
    this.#endReasoning();
    this.#endText();
    return this.#items;
  }

  #endText(): void {
    const text = this.#text;
    this.#text = "";
    if (text === "") return;
    this.#items.push({
      type: "message",
      id: `msg_${randomHex(16)}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    });
  }

  #endReasoning(): void {
    const text = this.#reasoning;
    const summary = this.#summary;
    const sealedText = this.#sealedText;
    this.#reasoning = "";
    this.#summary = "";
    this.#sealedText = "";
    if (text === "" && summary === "" && sealedText === "") return;
    this.#items.push({
      type: "reasoning",
      id: `rs_${randomHex(16)}`,
      summary: summary === "" ? [] : [{ type: "summary_text", text: summary }],
      ...(text === "" ? {} : { content: [{ type: "reasoning_text", text }] }),
      ...(sealedText === "" ? {} : { encrypted_content: sealedText }),
    });
  }
}
