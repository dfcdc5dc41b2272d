import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "../../../generated/responses-api/types.ts";
import { readEvents } from "../../runs/index.ts";
import { endsRun, type Owner, type RecordedEvent } from "../../runs/ports.ts";
import type { ResponseServices } from "../services.ts";

export type WatchServices = Pick<ResponseServices, "store" | "eventLog" | "runs">;

/** A response that a reader watches. */
export interface Watched {
  readonly owner: Owner;
  readonly responseId: string;
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal;
}

type Batches = AsyncGenerator<readonly RecordedEvent[], void>;

/** Milliseconds between two reads of a response that another process makes. */
const POLL_INTERVAL_MS = 200;

/**
 * The events of a response numbered above `after`, or all if it is −1: stored ones, then new ones. Ends after the last
 * event.
 */
export async function* watchResponse(services: WatchServices, watched: Watched, after: number): Batches {
  const { eventLog: log, runs } = services;
  const { responseId, signal } = watched;
  // The generator subscribes only when it is read: if it were never read, nothing would close the subscription.
  const live = runs.subscribe(responseId);
  if (live === null) return yield* followLog(services, watched, after);
  const leave = (): void => live.close();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    yield* continueFromLog(
      services,
      watched,
      after,
      readEvents({ responseId, log, live, isLiveFromStart: false }, after),
    );
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/**
 * Passes on the events of a response that this process makes. If another process continues it, reads the rest from the
 * log.
 */
export async function* continueFromLog(
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
    if (last !== undefined && endsRun(last)) return;
  }
  if (!services.runs.isQueueClosed) yield* followLog(services, watched, shown);
}

/** Polls the log for the events of a response that another process makes, until it has ended. */
async function* followLog({ store, eventLog }: WatchServices, watched: Watched, after: number): Batches {
  const { owner, responseId, signal } = watched;
  let shown = after;
  while (!signal.aborted) {
    // Read before the log: if the response is over, its last events are in the log by now.
    const response = await store.findResponse(owner, responseId);
    for await (const batch of eventLog.read(responseId, shown)) {
      shown = batch.at(-1)?.number ?? shown;
      yield batch;
    }
    if (response === null || isOver(response)) return;
    await sleep(POLL_INTERVAL_MS, null, { signal }).catch(() => null); // Rejects when the reader leaves.
  }
}

/** Whether a response has ended. */
export function isOver({ status }: Response): boolean {
  return status !== "queued" && status !== "in_progress";
}

/** The response once it has ended, or its state after `waitMs` milliseconds; null if it was deleted. */
export async function waitUntilOver(
  { store }: Pick<ResponseServices, "store">,
  { owner, responseId, signal }: Watched,
  waitMs: number,
): Promise<Response | null> {
  const end = performance.now() + waitMs;
  for (;;) {
    const response = await store.findResponse(owner, responseId);
    if (response === null || isOver(response) || signal.aborted || performance.now() > end) return response;
    await sleep(POLL_INTERVAL_MS, null, { signal }).catch(() => null);
  }
}
