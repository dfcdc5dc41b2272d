import type { OutputItem, Response, ResponseStreamEvent } from "../../generated/responses-api/types.ts";
import { assert } from "../base/assert.ts";
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
  readonly #output: OutputItem[] = [];
  readonly #done = new Set<number>();

  get response(): Response {
    assert(this.#snapshot !== null, "a stream begins with a snapshot of its response");
    return { ...this.#snapshot, output: [...this.#output] };
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
        this.#output[event.output_index] = structuredClone(event.item);
        return;
      case "response.output_item.done":
        this.#output[event.output_index] = event.item;
        this.#done.add(event.output_index);
        return;
      default:
        if ("output_index" in event) this.#grow(event);
    }
  }

  #grow(event: ItemEvent): void {
    const item = this.#output[event.output_index];
    if (item !== undefined) growItem(item, event);
  }

  /** The reference has been seen to end without announcing the end of each item; its last snapshot then knows better. */
  #adoptUnfinished(output: readonly OutputItem[]): void {
    for (const [index, item] of output.entries()) {
      if (!this.#done.has(index)) this.#output[index] = item;
    }
  }
}
