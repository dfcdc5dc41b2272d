import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { UnfinishedCall, UnfinishedMessage } from "../../../runs/index.ts";

type Batch = readonly ModelEvent[];

/** How the rest of an item was requested: as the continuation of its text, or as the whole answer again. */
export type AskedFor = "rest" | "again";

export interface NewAttempt {
  readonly scope: AskedFor;
  readonly turn: AsyncIterable<Batch>;
  /** Called once with whether the item continues. */
  readonly onDecided: (how: "same_item" | "new_item") => void;
}

/**
 * The turn of a model that continues a partially shown answer. If the model is asked for the whole answer and repeats
 * it, only the rest is passed on, and the item continues. Otherwise, the item ends as incomplete, and the whole new
 * answer follows.
 */
export async function* continueItem(
  open: UnfinishedMessage | UnfinishedCall,
  { scope, turn, onDecided }: NewAttempt,
): AsyncGenerator<Batch, void> {
  const match = new ItemMatch(open, scope, onDecided);
  for await (const batch of turn) {
    const output = batch.flatMap((event) => match.add(event));
    if (output.length > 0) yield output;
  }
}

type Delta = Extract<ModelEvent, { type: "text_delta" | "call_delta" }>;

const TEXT_OF = { message: "text_delta", call: "call_delta" } as const;
const TYPE_BEGUN_BY = { message_started: "message", call_started: "call" } as const;

/** Compares the model's text with the shown text of the open item. */
class ItemMatch {
  readonly #open: UnfinishedMessage | UnfinishedCall;
  readonly #scope: AskedFor;
  readonly #onDecided: NewAttempt["onDecided"];
  /** Text that was not passed on yet; null after the decision whether the item continues. */
  #heldEvents: ModelEvent[] | null = [];
  /** The number of repeated characters of the open item. */
  #matchLength: number;
  /** Whether the item itself was begun again. */
  #hasBegun = false;

  constructor(open: UnfinishedMessage | UnfinishedCall, scope: AskedFor, onDecided: NewAttempt["onDecided"]) {
    this.#onDecided = onDecided;
    this.#open = open;
    this.#scope = scope;
    this.#matchLength = scope === "rest" ? open.text.length : 0;
  }

  add(event: ModelEvent): Batch {
    if (this.#heldEvents === null || event.type === "model_resolved" || event.type === "usage") return [event];
    if (isReasoning(event) && !this.#hasBegun) return this.#scope === "rest" ? this.#giveUp(event) : this.#hold(event);
    if (event.type === "message_finished" && this.#scope === "again" && !this.#hasBegun) return this.#hold(event);
    if (event.type === "message_started" || event.type === "call_started")
      return !this.#hasBegun && isSameItem(this.#open, event) ? this.#begin(event) : this.#end(event);
    const isText = event.type === "text_delta" || event.type === "call_delta";
    return isText && event.type === TEXT_OF[this.#open.type] ? this.#compare(event) : this.#end(event);
  }

  #begin(event: ModelEvent): Batch {
    this.#hasBegun = true;
    return this.#hold(event);
  }

  #hold(event: ModelEvent): Batch {
    this.#heldEvents?.push(event);
    return [];
  }

  #compare(event: Delta): Batch {
    this.#hasBegun = true;
    const rest = this.#open.text.slice(this.#matchLength);
    if (rest === "") return this.#goOn(event);
    if (rest.length > event.text.length && rest.startsWith(event.text)) {
      this.#matchLength += event.text.length;
      return this.#hold(event);
    }
    if (!event.text.startsWith(rest)) return this.#giveUp(event);
    const text = event.text.slice(rest.length);
    this.#matchLength = this.#open.text.length;
    return text === "" ? [] : this.#goOn({ type: event.type, text });
  }

  /** The open item ends with this event, if all of its shown text was repeated. */
  #end(event: ModelEvent): Batch {
    const isAllSaid = this.#matchLength === this.#open.text.length;
    const isWhole = isAllSaid && (this.#hasBegun || this.#scope === "rest" || event.type === "finished");
    return isWhole && !(event.type === "call_finished" && event.isCut === true)
      ? this.#goOn(event)
      : this.#giveUp(event);
  }

  /** The open item continues with this event. */
  #goOn(event: ModelEvent): Batch {
    this.#heldEvents = null;
    this.#onDecided("same_item");
    return [event];
  }

  /** The answer is a different one. */
  #giveUp(event: ModelEvent): Batch {
    const heldEvents = this.#heldEvents ?? [];
    this.#heldEvents = null;
    this.#onDecided("new_item");
    return [{ type: "turn_cut" }, ...heldEvents, event];
  }
}

function isReasoning({ type }: ModelEvent): boolean {
  return type.startsWith("reasoning_");
}

/** Whether this event begins an item like the open one. */
function isSameItem(
  open: UnfinishedMessage | UnfinishedCall,
  event: Extract<ModelEvent, { type: "message_started" | "call_started" }>,
): boolean {
  if (open.type === "message" || event.type === "message_started") return open.type === TYPE_BEGUN_BY[event.type];
  return open.kind === event.kind && open.name === event.name && open.namespace === (event.namespace ?? null);
}
