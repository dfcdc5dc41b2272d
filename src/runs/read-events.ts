import type { Subscription } from "./live-feed.ts";
import type { EventLog, RecordedEvent } from "./ports.ts";

export interface EventSource {
  readonly responseId: string;
  /** Where the stored events are; null for a run that is not stored. */
  readonly log: Pick<EventLog, "read"> | null;
  /** The running response's feed, subscribed before reading began; null if it is not running. */
  readonly live: Subscription | null;
}

/**
 * The events numbered above `after` (−1: all), in order, without gap or repetition: first those stored, then those to come. Ends after the event that ends the run.
 * A reader that lags behind a running response is sent to the log and back.
 */
export async function* readEvents(source: EventSource, after: number): AsyncGenerator<RecordedEvent> {
  let shown = after;
  try {
    if (source.live === null || after >= 0) {
      for await (const event of stored(source, shown)) {
        shown = event.number;
        yield event;
      }
    }
    if (source.live === null) return;
    for (;;) {
      const events = await source.live.next();
      if (events === null) return;
      if (source.live.takeLagged() || isAhead(events, shown)) {
        for await (const event of stored(source, shown)) {
          shown = event.number;
          yield event;
        }
      }
      for (const event of events) {
        if (event.number <= shown) continue;
        shown = event.number;
        yield event;
      }
    }
  } finally {
    source.live?.close();
  }
}

/** Whether events between the last one shown and these were missed: the reader subscribed late. */
function isAhead(events: readonly RecordedEvent[], shown: number): boolean {
  const first = events[0];
  return first !== undefined && first.number > shown + 1;
}

async function* stored(source: EventSource, after: number): AsyncGenerator<RecordedEvent> {
  if (source.log === null) return;
  for await (const batch of source.log.read(source.responseId, after)) yield* batch;
}
