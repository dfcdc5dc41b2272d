import { assert } from "@antiphon/base/assert.ts";
import type { OutputItem, Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { growItem, type ItemEvent } from "./fold-item.ts";

/** Computes the response from a complete stream of events. */
export function foldEvents(events: Iterable<ResponseStreamEvent>): Response {
  const fold = new ResponseFold();
  for (const event of events) fold.apply(event);
  return fold.response;
}

/**
 * Computes the response incrementally from its events; `response` is the state so far. Items come from their own
 * events, everything else from the latest snapshot.
 */
export class ResponseFold {
  #snapshot: Response | null = null;
  /** Keyed by output index. The reference sometimes skips an index, so there may be gaps. */
  readonly #items = new Map<number, FoldedItem>();

  get response(): Response {
    assert(this.#snapshot !== null, "a stream begins with a snapshot of its response");
    return { ...this.#snapshot, output: [...this.#items.values()].map(({ item }) => item) };
  }

  apply(event: ResponseStreamEvent): void {
    switch (event.type) {
      case "response.created":
      case "response.queued":
      case "response.in_progress":
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        this.#snapshot = event.response;
        this.#adoptUnfinished(event.response.output);
        return;
      case "response.output_item.added":
        this.#items.set(event.output_index, { item: structuredClone(event.item), isDone: false });
        return;
      case "response.output_item.done":
        this.#items.set(event.output_index, { item: event.item, isDone: true });
        return;
      default:
        if ("output_index" in event) this.#grow(event);
    }
  }

  #grow(event: ItemEvent): void {
    const entry = this.#items.get(event.output_index);
    if (entry !== undefined && !entry.isDone) growItem(entry.item, event);
  }

  /** If the reference sends no `output_item.done` for an item, takes the item from the last snapshot. */
  #adoptUnfinished(output: readonly OutputItem[]): void {
    for (const item of output) {
      const entry = [...this.#items].find(([, candidate]) => candidate.item.id === item.id);
      if (entry?.[1].isDone !== true) this.#items.set(entry?.[0] ?? this.#items.size, { item, isDone: true });
    }
  }
}

interface FoldedItem {
  readonly item: OutputItem;
  readonly isDone: boolean;
}
