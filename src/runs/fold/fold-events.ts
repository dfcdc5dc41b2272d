import type { OutputItem, Response, ResponseStreamEvent } from "../../../generated/responses-api/types.ts";
import { assert } from "../../base/assert.ts";
import { growItem, type ItemEvent } from "./fold-item.ts";

/** The Response that a whole stream of events describes. */
export function foldEvents(events: Iterable<ResponseStreamEvent>): Response {
  const fold = new ResponseFold();
  for (const event of events) fold.apply(event);
  return fold.response;
}

/**
 * Builds the Response from its events, one at a time; at any point `response` is what a reader knows so far.
 * Items come from the events about them; everything else comes from the latest snapshot.
 */
export class ResponseFold {
  #snapshot: Response | null = null;
  /** By output index. The reference has been seen to skip one, so places may be missing. */
  readonly #places = new Map<number, Place>();

  get response(): Response {
    assert(this.#snapshot !== null, "a stream begins with a snapshot of its response");
    return { ...this.#snapshot, output: [...this.#places.values()].map(({ item }) => item) };
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
        this.#places.set(event.output_index, { item: structuredClone(event.item), done: false });
        return;
      case "response.output_item.done":
        this.#places.set(event.output_index, { item: event.item, done: true });
        return;
      default:
        if ("output_index" in event) this.#grow(event);
    }
  }

  #grow(event: ItemEvent): void {
    const place = this.#places.get(event.output_index);
    if (place !== undefined && !place.done) growItem(place.item, event);
  }

  /**
   * The reference has been seen to end without announcing the end of each item; its last snapshot then knows better.
   */
  #adoptUnfinished(output: readonly OutputItem[]): void {
    for (const item of output) {
      const place = [...this.#places].find(([, known]) => known.item.id === item.id);
      if (place?.[1].done !== true) this.#places.set(place?.[0] ?? this.#places.size, { item, done: true });
    }
  }
}

interface Place {
  readonly item: OutputItem;
  readonly done: boolean;
}
