import { setTimeout as sleep } from "node:timers/promises";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import { type RunHost, readEvents } from "../../runs/index.ts";
import type { EventLog } from "../../runs/ports/event-log.ts";
import type { Neighbours } from "../../runs/reading/neighbours.ts";
import { endsRun, type RecordedEvent } from "../../runs/recorded-event.ts";
import { StoreOutage } from "./store-outage.ts";

/** What stored responses and their events are read with. */
export interface WatchContext {
  readonly store: ResponseStore;
  readonly eventLog: EventLog;
  /** The runs of this process. */
  readonly runs: RunHost;
  /** The other processes of this database; null if they tell each other nothing. */
  readonly neighbours: Neighbours | null;
}

/** A response that a reader watches. */
export interface Watched {
  readonly owner: Owner;
  readonly responseId: string;
  /** Aborts when the reader leaves. */
  readonly signal: AbortSignal;
}

type Batches = AsyncGenerator<readonly RecordedEvent[], void>;

/**
 * The interval of polling a response that another process makes, if there are no messages about it, in milliseconds.
 */
const POLL_INTERVAL_MS = 200;
/** How long to wait for another process's message about the end of its response, in milliseconds. */
const HEAR_MS_MAX = 2_000;

/**
 * The events of a response numbered above `after`, or all if it is −1: stored ones, then new ones. Ends after the last
 * event. Waits for a store that is down; throws an `UnfinishedStream` if it stays down or cannot be read.
 */
export async function* watchResponse(context: WatchContext, watch: Watched, after: number): Batches {
  const { eventLog: log, runs } = context;
  const { responseId, signal } = watch;
  // The generator subscribes only when it is read: if it were never read, nothing would close the subscription.
  const live = runs.subscribe(responseId);
  if (live === null) return yield* followLog(context, watch, after);
  const leave = (): void => live.close();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    yield* continueFromLog(context, watch, after, readEvents({ responseId, log, live, isLiveFromStart: false }, after));
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/**
 * Relays the events of a response that this process makes. If another process continues it, or its events cannot be
 * read for a while, reads the rest from the log.
 */
export async function* continueFromLog(
  context: WatchContext,
  watch: Watched,
  after: number,
  events: AsyncIterable<readonly RecordedEvent[]>,
): Batches {
  const outage = new StoreOutage();
  let lastNumber = after;
  try {
    for await (const batch of events) {
      yield batch;
      const last = batch.at(-1);
      lastNumber = last?.number ?? lastNumber;
      if (last !== undefined && endsRun(last)) return;
    }
    if (context.runs.isQueueClosed) return;
  } catch (fault) {
    if (!(await outage.outlast(fault, watch.signal))) throw unreadable(watch, fault);
  }
  yield* followLog(context, watch, lastNumber, outage);
}

/**
 * Reads the log of another process's response until it has ended. Between two polls, it receives the process's
 * messages, or waits.
 */
async function* followLog(context: WatchContext, watch: Watched, after: number, outage = new StoreOutage()): Batches {
  const { owner, responseId, signal } = watch;
  let lastNumber = after;
  while (!signal.aborted) {
    try {
      // Read before the log: if the response is over, its last events are in the log by now.
      const response = await context.store.findResponse(owner, responseId);
      for await (const batch of context.eventLog.read(responseId, lastNumber)) {
        lastNumber = batch.at(-1)?.number ?? lastNumber;
        yield batch;
      }
      if (response === null || isOver(response)) return;
      outage.end();
      const before = lastNumber;
      for await (const batch of hearEvents(context, watch, lastNumber)) {
        const last = batch.at(-1);
        lastNumber = last?.number ?? lastNumber;
        yield batch;
        if (last !== undefined && endsRun(last)) return;
      }
      if (lastNumber === before) await rest(signal);
    } catch (fault) {
      if (!(await outage.outlast(fault, signal))) throw unreadable(watch, fault);
    }
  }
}

/** Readers can resume a stored response, so its stream does not end with an error event. */
function unreadable({ responseId }: Watched, cause: unknown): UnfinishedStream {
  return new UnfinishedStream("the events of a stored response could not be read", {
    cause,
    logFields: { responseId },
  });
}

/** The events above `after`, while this process makes them or receives them from the one that does. */
async function* hearEvents(
  { neighbours, runs, eventLog: log }: WatchContext,
  { responseId, signal }: Watched,
  after: number,
): Batches {
  const own = runs.subscribe(responseId);
  const live = own ?? neighbours?.subscribe(responseId, after);
  const settledLog: Pick<EventLog, "read"> = {
    async *read(id, from) {
      if (own === null) await neighbours?.settle(); // An event of which no message came may be shown and not stored.
      yield* log.read(id, from);
    },
  };
  if (live === undefined) return;
  const leave = (): void => live.close();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    yield* readEvents({ responseId, log: settledLog, live, isLiveFromStart: own === null }, after);
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

/**
 * The response once it has ended, or its state after `waitMs` milliseconds; null if it was deleted. Waits for a store
 * that is down, and rejects if it stays down.
 */
export async function waitUntilOver(
  { store, neighbours }: Pick<WatchContext, "store" | "neighbours">,
  watch: Watched,
  waitMs: number,
): Promise<Response | null> {
  const { responseId, signal } = watch;
  const end = performance.now() + waitMs;
  for (let looks = 0; ; looks += 1) {
    const response = await findPatiently(store, watch, end);
    const leftMs = end - performance.now();
    if (response === null || isOver(response) || signal.aborted || leftMs < 0) return response;
    if (neighbours === null || looks > 0) await rest(signal); // An earlier message was not the end.
    const outOfTime = AbortSignal.timeout(Math.ceil(Math.min(leftMs, HEAR_MS_MAX)));
    await neighbours?.waitForEnd(responseId, AbortSignal.any([signal, outOfTime]));
  }
}

/** Retries while the store is down, until `end` at the latest. */
async function findPatiently(
  store: ResponseStore,
  { owner, responseId, signal }: Watched,
  end: number,
): Promise<Response | null> {
  const outage = new StoreOutage();
  for (;;) {
    try {
      return await store.findResponse(owner, responseId);
    } catch (fault) {
      const isLate = signal.aborted || performance.now() >= end;
      if (isLate || !(await outage.outlast(fault, signal))) throw fault;
    }
  }
}
