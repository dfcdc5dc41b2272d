import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "../../generated/responses-api/types.ts";
import { type RunHost, readEvents } from "../runs/index.ts";
import type { EventLog, Owner, RecordedEvent } from "../runs/ports.ts";
import type { ResponseStore } from "./ports.ts";

export interface WatchParts {
  readonly store: Pick<ResponseStore, "findResponse">;
  readonly log: EventLog;
  readonly runs: Pick<RunHost, "subscribe">;
}

/** How long between two looks at a response that another process makes, in milliseconds. */
const LOOK_INTERVAL_MS = 200;

/** The events of a response numbered above `after` (−1: all), stored ones and those to come; ends after its last. */
export function watchResponse(
  parts: WatchParts,
  owner: Owner,
  responseId: string,
  after: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  const { log, runs } = parts;
  const live = runs.subscribe(responseId);
  if (live === null) return followLog(parts, owner, responseId, after);
  return readEvents({ responseId, log, live, isLiveFromStart: false }, after);
}

/** A response that is not made here is read as far as it is stored, again and again until it has ended. */
async function* followLog(
  { store, log }: WatchParts,
  owner: Owner,
  responseId: string,
  after: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  let shown = after;
  for (;;) {
    const response = await store.findResponse(owner, responseId); // Looked at first: what it had stored by then is read below.
    for await (const batch of log.read(responseId, shown)) {
      shown = batch.at(-1)?.number ?? shown;
      yield batch;
    }
    if (response === null || isOver(response)) return;
    await sleep(LOOK_INTERVAL_MS);
  }
}

/** Whether nothing can happen to a response any more. */
export function isOver({ status }: Response): boolean {
  return status !== "queued" && status !== "in_progress";
}

/** The response once it is over; null if it is not within `waitMs`, or gone. */
export async function waitUntilOver(
  store: Pick<ResponseStore, "findResponse">,
  owner: Owner,
  responseId: string,
  waitMs: number,
): Promise<Response | null> {
  for (const end = Date.now() + waitMs; Date.now() < end; await sleep(LOOK_INTERVAL_MS)) {
    const response = await store.findResponse(owner, responseId);
    if (response === null) return null;
    if (isOver(response)) return response;
  }
  return null;
}
