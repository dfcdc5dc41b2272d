import type { EventLog } from "../ports/event-log.ts";
import type { RecordedEvent } from "../recorded-event.ts";
import type { Subscription } from "./live-feed.ts";

export interface EventSource {
  readonly responseId: string;
  /** The stored events; null for a run that is not stored. */
  readonly log: Pick<EventLog, "read"> | null;
  /** A subscription made before reading began; null if another process makes the response. */
  readonly live: Subscription | null;
  /** Whether `live` was subscribed before the first event, so that the log need not be read first. */
  readonly isLiveFromStart: boolean;
}

/**
 * The events numbered above `after`, or all if it is −1: first stored events, then new events as they arrive, in order
 * and each once. Ends after the event that ends the run. A lagging reader catches up from the log. Ends early if the
 * log lacks the next events.
 */
export async function* readEvents(source: EventSource, after: number): AsyncGenerator<readonly RecordedEvent[]> {
  const { live } = source;
  let lastNumber = after;
  const unseen = (batch: readonly RecordedEvent[]): readonly RecordedEvent[] => {
    const fresh = (batch[0]?.number ?? 0) > lastNumber ? batch : batch.filter(({ number }) => number > lastNumber);
    lastNumber = fresh.at(-1)?.number ?? lastNumber;
    return fresh;
  };
  try {
    if (!source.isLiveFromStart) yield* readStored(source, lastNumber, unseen);
    for (let events = await live?.next(); events != null; events = await live?.next()) {
      if (live?.takeLagged() === true || hasGap(events, lastNumber)) yield* readStored(source, lastNumber, unseen);
      const isIncomplete = hasGap(events, lastNumber);
      events = unseen(isIncomplete ? beforeGap(events, lastNumber) : events);
      if (events.length > 0) yield events;
      if (isIncomplete) return;
      events = NO_EVENTS; // So that the batch can be freed while the next one is awaited.
    }
  } finally {
    live?.close();
  }
}

const NO_EVENTS: readonly RecordedEvent[] = [];

/** Whether the reader subscribed late and missed events before these, or has missed some between them. */
function hasGap(events: readonly RecordedEvent[], lastNumber: number): boolean {
  const first = events[0]?.number ?? 0;
  const last = events.at(-1)?.number ?? -1;
  return last > lastNumber && (first > lastNumber + 1 || last - first !== events.length - 1);
}

/** The events that have been seen or follow them without a gap. */
function beforeGap(events: readonly RecordedEvent[], lastNumber: number): readonly RecordedEvent[] {
  let next = lastNumber + 1;
  const end = events.findIndex(({ number }) => {
    if (number > next) return true;
    next = Math.max(next, number + 1);
    return false;
  });
  return end === -1 ? events : events.slice(0, end);
}

async function* readStored(
  { responseId, log }: EventSource,
  after: number,
  unseen: (batch: readonly RecordedEvent[]) => readonly RecordedEvent[],
): AsyncGenerator<readonly RecordedEvent[]> {
  if (log === null) return;
  for await (const batch of log.read(responseId, after)) yield unseen(batch);
}
