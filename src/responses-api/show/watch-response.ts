import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "../../../generated/responses-api/types.ts";
import { readEvents } from "../../runs/index.ts";
import type { Owner, RecordedEvent } from "../../runs/ports.ts";
import type { ResponseServices } from "../services.ts";

export type WatchServices = Pick<ResponseServices, "store" | "eventLog" | "runs">;

/** Which response is watched, and by whom. */
export interface Watched {
  readonly owner: Owner;
  readonly responseId: string;
  /** Aborts when nobody watches any more. */
  readonly signal: AbortSignal;
}

type Batches = AsyncGenerator<readonly RecordedEvent[], void>;

/** How long between two looks at a response that another process makes, in milliseconds. */
const LOOK_INTERVAL_MS = 200;

/** The events of a response numbered above `after` (−1: all), stored ones and those to come; ends after its last. */
export async function* watchResponse(services: WatchServices, watched: Watched, after: number): Batches {
  const { eventLog: log, runs } = services;
  const { responseId, signal } = watched;
  const live = runs.subscribe(responseId); // Not before somebody reads: nobody else would give the place back.
  if (live === null) return yield* followLog(services, watched, after);
  const leave = (): void => live.close();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    yield* toTheEnd(services, watched, after, readEvents({ responseId, log, live, isLiveFromStart: false }, after));
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** The events of a stored response that is made here and, if another process goes on with it, the rest of them. */
export async function* toTheEnd(
  services: WatchServices,
  watched: Watched,
  after: number,
  events: AsyncIterable<readonly RecordedEvent[]>,
): Batches {
  let shown = after;
  for await (const batch of events) {
    yield batch;
    const last = batch.at(-1);
    shown = last?.number ?? shown;
    if (last !== undefined && "response" in last.event && isOver(last.event.response)) return;
  }
  if (!services.runs.isQueueClosed) yield* followLog(services, watched, shown);
}

/** A response that is not made here is read as far as it is stored, again and again until it has ended. */
async function* followLog({ store, eventLog }: WatchServices, watched: Watched, after: number): Batches {
  const { owner, responseId, signal } = watched;
  let shown = after;
  while (!signal.aborted) {
    // Looked at first: what it had stored by then is read below.
    const response = await store.findResponse(owner, responseId);
    for await (const batch of eventLog.read(responseId, shown)) {
      shown = batch.at(-1)?.number ?? shown;
      yield batch;
    }
    if (response === null || isOver(response)) return;
    await sleep(LOOK_INTERVAL_MS, null, { signal }).catch(() => null); // Rejects when nobody watches any more.
  }
}

/** Whether nothing can happen to a response any more. */
export function isOver({ status }: Response): boolean {
  return status !== "queued" && status !== "in_progress";
}

/** The response once it is over, or as it is after `waitMs`; null if it is gone. */
export async function waitUntilOver(
  { store }: Pick<ResponseServices, "store">,
  { owner, responseId, signal }: Watched,
  waitMs: number,
): Promise<Response | null> {
  const end = performance.now() + waitMs;
  for (;;) {
    const response = await store.findResponse(owner, responseId);
    if (response === null || isOver(response) || signal.aborted || performance.now() > end) return response;
    await sleep(LOOK_INTERVAL_MS, null, { signal }).catch(() => null);
  }
}
