import type { EventTimes } from "./ports/event-times.ts";
import { LiveFeed, type Subscription } from "./reading/live-feed.ts";
import { readEvents } from "./reading/read-events.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import { createRecorder } from "./recording/event-recorder.ts";
import { LateRecorder, SilentRecorder } from "./recording/late-recorder.ts";
import { restoreRun } from "./restore-run.ts";
import {
  type AskForTurn,
  type LastingStart,
  RunDriver,
  type RunOutcome,
  type RunStart,
  type Turn,
} from "./run-driver.ts";
import { INTERRUPTED_FAILURE } from "./run-failures.ts";
import type { RunFailure, RunState } from "./run-state.ts";
import { initialState } from "./transition.ts";

export interface LiveRun {
  readonly responseId: string;
  /** All events from the first on, for the caller that started the run. */
  readonly events: AsyncGenerator<readonly RecordedEvent[]>;
  /** Subscribes another reader to the events from now on. */
  subscribe(): Subscription;
  /** The times of its events so far; null if it is not stored. */
  readonly times: EventTimes | null;
  /** Resolves when the run has ended and all its data is stored. Never rejects. */
  readonly outcome: Promise<RunOutcome>;
}

/** A foreground run whose reply is its final snapshot. Nobody knows its id, so nobody reads its events. */
export interface PlainRun {
  readonly responseId: string;
  /** Whether the run is stored, so that another worker could continue it. */
  readonly isStored: () => boolean;
  /**
   * Stores the run so far and everything that follows; otherwise, the run is stored as a whole at its end. Call it
   * before the run acts on the world, such as by calling a hosted tool, because a crash must not hide such an act.
   * Rejects if the run cannot be stored; it can then only be ended. Does nothing for a run with `store: false`.
   */
  readonly storeNow: () => Promise<void>;
  /** Subscribes to the events from now on, once the run is stored. */
  subscribe(): Subscription;
  /** As in `LiveRun`. */
  readonly times: EventTimes | null;
  /** Resolves when the run has ended and all its data is stored. Never rejects. */
  readonly outcome: Promise<RunOutcome>;
}

/** A stored run that is waiting to start. */
export interface QueuedRun {
  readonly responseId: string;
  /** False if the run only needs to be ended, which needs no free place. */
  readonly asksModel: boolean;
  /** Subscribes one reader to the events from now on. */
  subscribe(): Subscription;
  /** As in `LiveRun`. */
  readonly times: EventTimes | null;
  /**
   * Calls the model and makes the run to its end. Never rejects. Call it exactly once, even if the run was stopped
   * meanwhile.
   */
  drive(): Promise<RunOutcome>;
}

/**
 * Starts a foreground run. Resolves once its first events are stored, so that the response can be fetched by id.
 * Rejects like `ask`. If the model takes longer than `acceptWaitMs`, the run begins anyway, and a later refusal ends it
 * as failed.
 */
export async function startRun(start: RunStart): Promise<LiveRun> {
  const { log, plan } = start;
  const storing = Promise.withResolvers<void>();
  storing.promise.catch(() => {}); // The opener of the run handles the rejection.
  const turn = askedBy(start, () => storing.promise);
  await settledWithin(turn, start.acceptWaitMs);
  const { driver, feed, times } = driverOf(start, { nextNumber: 0, state: initialState(plan) });
  const live = feed.subscribe();
  const opening = driver.open(start.openedRun, { type: "accepted" });
  opening.then(storing.resolve, storing.reject);
  if (log === null) await opening;
  const outcome = driver.drive(() => turn, opening);
  await opening;
  const responseId = plan.response.id;
  const events = readEvents({ responseId, log, live, isLiveFromStart: true }, -1);
  return { responseId, events, subscribe: () => feed.subscribe(), times, outcome };
}

/**
 * Starts a foreground run whose events nobody reads. Resolves once its model has accepted; rejects like `ask`. The run
 * is stored as a whole at its end, or earlier if it exceeds the buffer.
 */
export async function startPlainRun(start: RunStart): Promise<PlainRun> {
  const { log, plan } = start;
  const feed = new LiveFeed(true);
  const recorder = log === null ? new SilentRecorder() : new LateRecorder(plan.response.id, log, feed);
  const turn = await askedBy(start, () => recorder.storeNow());
  const driver = new RunDriver(lastingPartsOf(start), recorder, initialState(plan));
  await driver.open(start.openedRun, { type: "accepted" });
  return {
    responseId: plan.response.id,
    isStored: () => recorder.isStored,
    storeNow: () => recorder.storeNow(),
    subscribe: () => feed.subscribe(),
    times: recorder.times,
    outcome: driver.drive(async () => turn),
  };
}

/** Calls the model. If the run is stopped meanwhile, resolves to an empty turn: the reason of `signal` ends the run. */
async function askedBy({ ask, signal, watch }: RunStart, storeNow: () => Promise<void>): Promise<Turn> {
  watch?.began();
  try {
    return await ask(signal, storeNow);
  } catch (fault) {
    if (!signal.aborted) throw fault;
    return EMPTY_TURN;
  }
}

/** Resolves when `work` is done or after `ms` milliseconds; rejects if `work` rejects earlier. */
async function settledWithin(work: Promise<unknown>, ms: number | undefined): Promise<void> {
  if (ms === undefined) return void (await work);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** Stores a background run before its model is called. Resolves once its first events are stored. */
export async function queueRun(start: RunStart): Promise<QueuedRun> {
  const { driver, ...view } = driverOf(start, { nextNumber: 0, state: initialState(start.plan) });
  await driver.open(start.openedRun, { type: "queued" });
  return toQueuedRun(start, view, () => driver.drive(watchedAsk(start, start.ask)));
}

/**
 * Continues another worker's run. Its model is called again if no part of the answer was shown, and continues the
 * answer if that is possible. Otherwise, open items are closed and the run fails. `askFailure`: the failure if its
 * model cannot be called; null if it can.
 */
export function resumeRun(
  start: RunStart,
  loggedEvents: readonly RecordedEvent[],
  askFailure: RunFailure | null,
): QueuedRun {
  const restoredRun = restoreRun(start.plan, loggedEvents);
  const nextNumber = (loggedEvents.at(-1)?.number ?? -1) + 1;
  const { driver, ...view } = driverOf(start, { nextNumber, state: restoredRun.state });
  const goOn = restoredRun.shownAnswer === null ? null : (start.resume?.(restoredRun.shownAnswer) ?? null);
  const ask = goOn ?? (restoredRun.hasAnswer ? null : start.ask);
  if (askFailure === null && ask !== null) return toQueuedRun(start, view, () => driver.drive(watchedAsk(start, ask)));
  const failure = restoredRun.hasAnswer ? INTERRUPTED_FAILURE : (askFailure ?? INTERRUPTED_FAILURE);
  const end = restoredRun.end({ type: "model_failed", failure });
  return { ...toQueuedRun(start, view, () => driver.end(end)), asksModel: false };
}

function toQueuedRun({ plan }: RunStart, { feed, times }: ShownRun, drive: QueuedRun["drive"]): QueuedRun {
  return { responseId: plan.response.id, asksModel: true, subscribe: () => feed.subscribe(), times, drive };
}

/** The visible parts of a run. */
interface ShownRun {
  readonly feed: LiveFeed;
  readonly times: EventTimes | null;
}

const EMPTY_TURN: Turn = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) };

function watchedAsk({ watch }: RunStart, ask: AskForTurn): AskForTurn {
  return (signal, storeNow) => {
    watch?.began();
    return ask(signal, storeNow);
  };
}

function driverOf(start: RunStart, { nextNumber, state }: { nextNumber: number; state: RunState }) {
  const { log, plan, signal } = start;
  const feed = new LiveFeed(log !== null);
  if (log === null) signal.addEventListener("abort", () => feed.stopWaiting(), { once: true });
  const recorder = createRecorder({ responseId: plan.response.id, log, feed, nextNumber });
  return { driver: new RunDriver(lastingPartsOf(start), recorder, state), feed, times: recorder.times };
}

/** Leaves out the parts that contain the whole context, because a run may be long. */
function lastingPartsOf({ plan, log, signal, now, onFault, onEnd, onUsed, watch }: RunStart): LastingStart {
  return { plan, log, signal, now, onFault, onEnd, onUsed, watch };
}
