import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "../../../generated/responses-api/types.ts";
import { readEvents } from "../../runs/index.ts";
import { endsRun, type Owner, type RecordedEvent } from "../../runs/ports.ts";
import type { ResponseServices } from "../services.ts";

export type WatchServices = Pick<ResponseServices, "store" | "eventLog" | "runs" | "neighbours">;

/** A response that a reader watches. */
export interface Watched {
  readonly owner: Owner;
  readonly responseId: string;
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal;
}

type Batches = AsyncGenerator<readonly RecordedEvent[], void>;

/** Milliseconds between two reads of a response that another process makes, if that tells nothing of it. */
const POLL_INTERVAL_MS = 200;
/** How long to wait, in milliseconds, for another process to tell of the end of its response. */
const HEAR_MS_MAX = 2_000;

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

/**
 * Reads the log for the events of a response that another process makes, until it has ended. Between two looks it hears
 * what that process tells, or waits.
 */
async function* followLog(services: WatchServices, watched: Watched, after: number): Batches {
  const { owner, responseId, signal } = watched;
  let shown = after;
  while (!signal.aborted) {
    // Read before the log: if the response is over, its last events are in the log by now.
    const response = await services.store.findResponse(owner, responseId);
    for await (const batch of services.eventLog.read(responseId, shown)) {
      shown = batch.at(-1)?.number ?? shown;
      yield batch;
    }
    if (response === null || isOver(response)) return;
    const before = shown;
    for await (const batch of hearEvents(services, watched, shown)) {
      const last = batch.at(-1);
      shown = last?.number ?? shown;
      yield batch;
      if (last !== undefined && endsRun(last)) return;
    }
    if (shown === before) await rest(signal);
  }
}

/** The events above `after`, as long as the process that makes them tells of them. */
async function* hearEvents(
  { neighbours, runs, eventLog: log }: WatchServices,
  { responseId, signal }: Watched,
  after: number,
): Batches {
  if (neighbours === null) return;
  // This process may have taken the run by now.
  const own = runs.subscribe(responseId);
  const live = own ?? neighbours.subscribe(responseId, after);
  const leave = (): void => live.close();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    yield* readEvents({ responseId, log, live, isLiveFromStart: own === null }, after);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function rest(signal: AbortSignal): Promise<void> {
  await sleep(POLL_INTERVAL_MS, null, { signal }).catch(() => null); // Rejects when the reader leaves.
}

/** Whether a response has ended. */
export function isOver({ status }: Response): boolean {
  return status !== "queued" && status !== "in_progress";
}

/** The response once it has ended, or its state after `waitMs` milliseconds; null if it was deleted. */
export async function waitUntilOver(
  { store, neighbours }: Pick<ResponseServices, "store" | "neighbours">,
  { owner, responseId, signal }: Watched,
  waitMs: number,
): Promise<Response | null> {
  const end = performance.now() + waitMs;
  for (let looks = 0; ; looks += 1) {
    const response = await store.findResponse(owner, responseId);
    const leftMs = end - performance.now();
    if (response === null || isOver(response) || signal.aborted || leftMs < 0) return response;
    if (neighbours === null || looks > 0) await rest(signal); // What was told before was no end.
    const outOfTime = AbortSignal.timeout(Math.ceil(Math.min(leftMs, HEAR_MS_MAX)));
    await neighbours?.waitForEnd(responseId, AbortSignal.any([signal, outOfTime]));
  }
}
