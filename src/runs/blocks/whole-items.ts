import type { Compaction, ToolSearchCall } from "@antiphon/contracts/responses-api/types.ts";
import type { UnnumberedEvent } from "../wire-event.ts";

/** Shows an item without deltas. Its arguments are empty in the `added` event. */
export function showToolSearch(item: ToolSearchCall, index: number, events: UnnumberedEvent[]): void {
  const place = { output_index: index };
  events.push(
    { type: "response.output_item.added", ...place, item: { ...item, status: "in_progress", arguments: {} } },
    { type: "response.output_item.done", ...place, item },
  );
}

/** Shows an item without deltas. */
export function showCompaction(item: Compaction, index: number, events: UnnumberedEvent[]): void {
  const place = { output_index: index, item };
  events.push({ type: "response.output_item.added", ...place }, { type: "response.output_item.done", ...place });
}
