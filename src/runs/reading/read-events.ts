import type { EventLog, RecordedEvent } from "../ports.ts";
import type { Subscription } from "./live-feed.ts";

export interface EventSource {
  readonly responseId: string;
  /** Where the stored events are; null for a run that is not stored. */
  readonly log: Pick<EventLog, "read"> | null;
  /** The running response's feed, subscribed before reading began; null if it is not running. */
  readonly live: Subscription | null;
  /** Whether `live` was subscribed before the first event, so that the log has nothing that it lacks. */
  readonly isLiveFromStart: boolean;
}

/**
 * The events numbered above `after` (−1: all), in order, without gap or repetition, as they come: first those stored,
 * then those to come. Ends after the event that ends the run. A reader that lags behind a running response is sent to
 * the log and back.
 */
export async function* readEvents(source: EventSource, after: number): AsyncGenerator<readonly RecordedEvent[]> {
  const { live } = source;
  let shown = after;
  const unseen = (batch: readonly RecordedEvent[]): readonly RecordedEvent[] => {
    const fresh = (batch[0]?.number ?? 0) > shown ? batch : batch.filter(({ number }) => number > shown);
    shown = fresh.at(-1)?.number ?? shown;
    return fresh;
  };
  try {
    if (!source.isLiveFromStart) yield* stored(source, shown, unseen);
    for (let events = await live?.next(); events != null; events = await live?.next()) {
      if (live?.takeLagged() === true || isAhead(events, shown)) yield* stored(source, shown, unseen);
      events = unseen(events);
      if (events.length > 0) yield events;
      events = NOTHING; // What was shown is not held until more comes.
    }
  } finally {
    live?.close();
  }
}

const NOTHING: readonly RecordedEvent[] = [];

/** Whether events between the last one shown and these were missed: the reader subscribed late. */
function isAhead(events: readonly RecordedEvent[], shown: number): boolean {
  const first = events[0];
  return first !== undefined && first.number > shown + 1;
}

async function* stored(
  { responseId, log }: EventSource,
  after: number,
  unseen: (batch: readonly RecordedEvent[]) => readonly RecordedEvent[],
): AsyncGenerator<readonly RecordedEvent[]> {
  if (log === null) return;
  for await (const batch of log.read(responseId, after)) yield unseen(batch);
}
