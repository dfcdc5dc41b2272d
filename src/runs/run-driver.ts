import type { Response } from "../../generated/responses-api/types.ts";
import { createRecorder, type EventRecorder } from "./event-recorder.ts";
import {
  type EventLog,
  ModelError,
  type ModelEvent,
  type OpenedRun,
  type RecordedEvent,
  RunLost,
  type RunWatch,
} from "./ports.ts";
import { LiveFeed, type Subscription } from "./reading/live-feed.ts";
import { readEvents } from "./reading/read-events.ts";
import { restoreRun } from "./restore-run.ts";
import {
  ANSWER_CHARACTERS_MAX,
  INTERNAL_FAILURE,
  INTERRUPTED_FAILURE,
  modelFailure,
  RunStopped,
  STORAGE_FAILURE,
  TOO_LONG_FAILURE,
} from "./run-failures.ts";
import type { RunFailure, RunPlan, RunSignal, RunState } from "./run-state.ts";
import { initialState, type Transition, transition, transitionAll } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

export interface RunStart {
  readonly plan: RunPlan;
  readonly opened: OpenedRun;
  /** Null if the run is not stored. */
  readonly log: EventLog | null;
  /** Asks the model. Resolves once the model has accepted the turn; rejects with `ModelError` if it refused. */
  readonly ask: (signal: AbortSignal) => Promise<Turn>;
  /**
   * How many milliseconds a foreground run waits for the model to accept before its first events are shown. No limit if
   * absent.
   */
  readonly acceptWaitMs?: number;
  /**
   * Aborting stops the run; a `RunStopped` reason sets the status, otherwise it is cancelled. Must also be aborted at
   * the end, to free resources.
   */
  readonly signal: AbortSignal;
  /** Unix seconds. */
  readonly now: () => number;
  /** Called for every fault that is not a `ModelError`. */
  readonly onFault: (fault: unknown) => void;
  /** Called with the final snapshot when the run ends here. Must not throw. */
  readonly onEnd?: (response: Response) => void;
  readonly watch?: RunWatch;
}

/** The parts that a run needs until it ends. */
type LastingStart = Omit<RunStart, "ask" | "opened">;

export interface LiveRun {
  readonly responseId: string;
  /** All events from the first on, for the caller that started the run. */
  readonly events: AsyncGenerator<readonly RecordedEvent[]>;
  /** The events from now on, for a further reader. */
  subscribe(): Subscription;
  /** Resolves when the run has ended and all its data is stored. Never rejects. */
  readonly ended: Promise<void>;
}

/** A stored run that waits to be started. */
export interface QueuedRun {
  readonly responseId: string;
  /** False if the run only has to be ended, which needs no free place. */
  readonly asksModel: boolean;
  /** The events from now on, for one reader. */
  subscribe(): Subscription;
  /**
   * Asks the model and makes the run to its end. Never rejects. Call it exactly once, even if the run was stopped
   * meanwhile.
   */
  drive(): Promise<void>;
}

/**
 * Starts a foreground run. Resolves once its first events are stored, so that the response can be fetched by id.
 * Rejects as `ask` does. If the model takes longer than `acceptWaitMs`, the run begins anyway, and a later refusal ends
 * it as failed.
 */
export async function startRun(start: RunStart): Promise<LiveRun> {
  const { log, plan, signal } = start;
  start.watch?.began();
  const turn = start.ask(signal).catch((fault: unknown) => {
    if (!signal.aborted) throw fault;
    return EMPTY_TURN; // The reason of `signal` decides how the run ends.
  });
  await settledWithin(turn, start.acceptWaitMs);
  const { driver, feed } = driverOf(start, { nextNumber: 0, state: initialState(plan) });
  const live = feed.subscribe();
  await driver.open(start.opened, { type: "accepted" });
  const responseId = plan.response.id;
  const events = readEvents({ responseId, log, live, isLiveFromStart: true }, -1);
  return { responseId, events, subscribe: () => feed.subscribe(), ended: driver.drive(() => turn) };
}

/** Resolves when `work` is done or after `ms` milliseconds; rejects if `work` rejects before that. */
async function settledWithin(work: Promise<unknown>, ms: number | undefined): Promise<void> {
  if (ms === undefined) return void (await work);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** Stores a background run before its model is asked. Resolves once its first events are stored. */
export async function queueRun(start: RunStart): Promise<QueuedRun> {
  const { driver, feed } = driverOf(start, { nextNumber: 0, state: initialState(start.plan) });
  await driver.open(start.opened, { type: "queued" });
  return queued(start, feed, () => driver.drive(watchedAsk(start)));
}

/**
 * Continues a run that another worker began. If no part of the answer was shown, its model is asked (again). Otherwise
 * its open items are closed and it ends as failed. `askFailure` is the failure to end with if its model cannot be
 * asked; null if it can.
 */
export function resumeRun(start: RunStart, logged: readonly RecordedEvent[], askFailure: RunFailure | null): QueuedRun {
  const restored = restoreRun(start.plan, logged);
  const nextNumber = (logged.at(-1)?.number ?? -1) + 1;
  const { driver, feed } = driverOf(start, { nextNumber, state: restored.state });
  if (askFailure === null && !restored.hasAnswer) return queued(start, feed, () => driver.drive(watchedAsk(start)));
  const failure = restored.hasAnswer ? INTERRUPTED_FAILURE : (askFailure ?? INTERRUPTED_FAILURE);
  const end = restored.end({ type: "model_failed", failure });
  return { ...queued(start, feed, () => driver.end(end)), asksModel: false };
}

function queued({ plan }: RunStart, feed: LiveFeed, drive: () => Promise<void>): QueuedRun {
  return { responseId: plan.response.id, asksModel: true, subscribe: () => feed.subscribe(), drive };
}

const EMPTY_TURN: Turn = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) };

function watchedAsk({ ask, watch }: RunStart): RunStart["ask"] {
  return (signal) => {
    watch?.began();
    return ask(signal);
  };
}

function driverOf(start: RunStart, { nextNumber, state }: { nextNumber: number; state: RunState }) {
  // Not kept: they hold the whole context, and a run may be long.
  const { ask: _asked, opened: _stored, ...lasting } = start;
  const { log, plan, signal } = lasting;
  const feed = new LiveFeed(log !== null);
  signal.addEventListener("abort", () => feed.stopWaiting(), { once: true });
  const recorder = createRecorder({ responseId: plan.response.id, log, feed, nextNumber });
  return { driver: new RunDriver(lasting, recorder, state), feed };
}

/** Turns the model's batches, aborts and faults into signals, and records the events they make. */
class RunDriver {
  readonly #start: LastingStart;
  readonly #recorder: EventRecorder;
  #state: RunState;

  constructor(start: LastingStart, recorder: EventRecorder, state: RunState) {
    this.#start = start;
    this.#recorder = recorder;
    this.#state = state;
  }

  async open(opened: OpenedRun, first: RunSignal): Promise<void> {
    await this.#recorder.open(opened, this.#step(first));
  }

  /** Never rejects. */
  drive(ask: RunStart["ask"]): Promise<void> {
    return this.#reportFaults(async () => {
      const last = await this.#runTurn(ask);
      if (last === null) this.#leave();
      else await this.#end(transition(this.#state, last));
    });
  }

  /** Never rejects. */
  end(end: Transition): Promise<void> {
    return this.#reportFaults(() => this.#end(end));
  }

  /** On an internal fault the run stays open; the run keeper finds and ends it. */
  async #reportFaults(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      this.#start.onFault(fault);
      this.#leave();
    }
  }

  /** Records the end of the run. If it cannot be stored, shows a failed end that fits the stored events. */
  async #end({ state, events }: Transition): Promise<void> {
    this.#state = state;
    if (state.phase !== "ended") return;
    const { response } = state;
    this.#start.onEnd?.(response);
    try {
      await this.#recorder.close(events, { response, outputItems: response.output });
    } catch (fault) {
      if (fault instanceof RunLost) return this.#leave();
      this.#start.onFault(fault);
      this.#recorder.showUnstoredEnd(await this.#failedEndAfterStored());
      this.#start.watch?.failed(fault);
      return this.#start.watch?.ended(unstored(response));
    }
    this.#start.watch?.ended(response);
  }

  #leave(): void {
    this.#recorder.closeFeed();
    this.#start.watch?.left();
  }

  /** The failed end. Readers have seen the stored events, which may stop in the middle of an item. */
  async #failedEndAfterStored(): Promise<readonly UnnumberedEvent[]> {
    const { log, plan } = this.#start;
    const stored: RecordedEvent[] = [];
    try {
      for await (const batch of log?.read(plan.response.id, -1) ?? []) stored.push(...batch);
    } catch (fault) {
      this.#start.onFault(fault);
    }
    return restoreRun(plan, stored).end({ type: "model_failed", failure: STORAGE_FAILURE }).events;
  }

  /**
   * Records the model's answer. Returns the signal that ends the run, or null if the run is no longer this worker's.
   */
  async #runTurn(ask: RunStart["ask"]): Promise<RunSignal | null> {
    const { signal } = this.#start;
    try {
      if (!signal.aborted) await this.#recordTurn(await ask(signal));
    } catch (fault) {
      if (fault instanceof RunLost) return null;
      if (!signal.aborted) return { type: "model_failed", failure: this.#failureOf(fault) };
    }
    if (signal.aborted) return stopSignal(signal);
    if (this.#isTooLong()) return { type: "model_failed", failure: TOO_LONG_FAILURE };
    return { type: "model_ended", at: this.#start.now() };
  }

  async #recordTurn(turn: Turn): Promise<void> {
    const started = this.#step({ type: "accepted" });
    if (started.length > 0 && this.#state.phase === "answering")
      await this.#recorder.advance(started, this.#state.plan.response);
    for await (const batch of turn) {
      const { state, events } = transitionAll(this.#state, batch);
      this.#state = state;
      this.#start.watch?.said(events.length);
      if (events.length > 0) await this.#recorder.record(events);
      if (this.#isTooLong() || this.#start.signal.aborted) return;
    }
  }

  #isTooLong(): boolean {
    return this.#state.phase === "answering" && this.#state.characters > ANSWER_CHARACTERS_MAX;
  }

  #step(signal: RunSignal): readonly UnnumberedEvent[] {
    const next = transition(this.#state, signal);
    this.#state = next.state;
    return next.events;
  }

  #failureOf(fault: unknown): RunFailure {
    this.#start.watch?.failed(fault);
    if (fault instanceof ModelError) return modelFailure(fault);
    this.#start.onFault(fault);
    return INTERNAL_FAILURE;
  }
}

function unstored(response: Response): Response {
  const { responseCode, message } = STORAGE_FAILURE;
  return { ...response, status: "failed", error: { code: responseCode, message } };
}

function stopSignal({ reason }: AbortSignal): RunSignal | null {
  if (!(reason instanceof RunStopped)) return { type: "cancelled" }; // The client left.
  return reason.signal;
}
