import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { UnfinishedCall, UnfinishedMessage } from "../../../runs/index.ts";

/** An item that the model is writing and that another attempt may continue. */
export type OpenPart = UnfinishedMessage | UnfinishedCall;

type Open = OpenPart | { readonly type: "reasoning" };

/** Tracks the item that the model is writing. */
export class OpenText {
  #open: Open | null = null;
  #text = "";

  /** Returns the item that this event ends; null if it ends none. */
  add(event: ModelEvent): Open | null {
    switch (event.type) {
      case "text_delta":
        if (this.#open?.type !== "message") this.#begin({ type: "message", text: "", isPlain: true });
        this.#text += event.text;
        return null;
      case "refusal_delta":
      case "annotation":
        return this.#begin({ type: "message", text: "", isPlain: false });
      case "message_started":
        return this.#begin({ type: "message", text: "", isPlain: true });
      case "reasoning_delta":
      case "reasoning_summary_delta":
      case "reasoning_sealed":
        return this.#begin({ type: "reasoning" });
      case "call_started": {
        const { kind, name, namespace = null } = event;
        return kind === "hosted" ? this.end() : this.#begin({ type: "call", kind, name, namespace, text: "" });
      }
      case "call_delta":
        this.#text += event.text;
        return null;
      case "message_finished":
      case "call_finished":
      case "tool_search":
      case "turn_cut":
        return this.end();
      default:
        return null; // The rest begins and ends no item of the model's own text.
    }
  }

  /** Whether it is a message or reasoning. */
  get isText(): boolean {
    return this.#open !== null && this.#open.type !== "call";
  }

  /** The open item; null if there is none. */
  take(): Open | null {
    const open = this.#open;
    return open === null || open.type === "reasoning" ? open : { ...open, text: this.#text };
  }

  end(): Open | null {
    const open = this.#open;
    this.#open = null;
    this.#text = "";
    return open;
  }

  #begin(open: Open): Open | null {
    const before = this.end();
    this.#open = open;
    return before;
  }
}
