import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { TimelineEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { EventLog } from "../../../runs/ports/event-log.ts";
import { readEventTimes } from "../../../runs/ports/event-times.ts";
import type { RecordedEvent } from "../../../runs/recorded-event.ts";
import type { Caller } from "../../access/caller.ts";
import { responseNotFound } from "../../errors/state-errors.ts";
import type { WatchContext } from "../../show/watch-response.ts";

const PAGE_EVENTS_DEFAULT = 1_000;

/** `GET /v1/responses/{response_id}/timeline`: when the stored events of a response were created, oldest first. */
export function listResponseTimeline(
  archive: ResponseArchive,
  { eventLog, runs }: Pick<WatchContext, "eventLog" | "runs">,
): ResponsesApiHandlers<Caller>["listResponseTimeline"] {
  return async ({ path: { response_id: id }, query }, { principal: { owner } }) => {
    const record = await archive.findRecord(owner, id);
    if (record === null) throw responseNotFound(id);
    const { limit = PAGE_EVENTS_DEFAULT, after = -1 } = query;
    const events = await readSome(eventLog, id, after, limit + 1);
    const atOf = readEventTimes(record.eventTimes ?? runs.timesOf(id)?.events ?? "");
    const data = events.slice(0, limit).map((event) => timelineEvent(event, atOf(event.number)));
    return { status: 200, body: { object: "list", data, has_more: events.length > limit } };
  };
}

async function readSome(log: EventLog, id: string, after: number, count: number): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of log.read(id, after)) {
    events.push(...batch.slice(0, count - events.length));
    if (events.length === count) break;
  }
  return events;
}

/** Deltas of one part share their place. */
function timelineEvent(entry: RecordedEvent, atMs: number | null): TimelineEvent {
  const event = entry.template === null ? entry.event : entry.template.eventOf("", entry.number);
  return {
    sequence_number: entry.number,
    type: event.type,
    at_ms: atMs,
    item_id: itemIdOf(event),
    output_index: "output_index" in event ? event.output_index : null,
  };
}

function itemIdOf(event: RecordedEvent["event"]): string | null {
  if ("item_id" in event) return event.item_id;
  return "item" in event ? (event.item.id ?? null) : null;
}
