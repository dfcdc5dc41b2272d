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
import { type Transition, transition, waiting } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

export interface RunStart {
  readonly plan: RunPlan;
  readonly opened: OpenedRun;
  /** Null: the run is not stored. */
  readonly log: EventLog | null;
  /** Asks the model. Resolves once it has accepted the turn; rejects with `ModelError` if it refused. */
  readonly ask: (signal: AbortSignal) => Promise<Turn>;
  /**
   * How long a run of the foreground waits for the model's acceptance before it begins without it. Absent: as long as
   * it takes.
   */
  readonly acceptWaitMs?: number;
  /**
   * Ends the run: as the `RunStopped` says that is its reason, or else as cancelled. It has to abort when the run is
   * over, too, so that nothing works for it any longer.
   */
  readonly signal: AbortSignal;
  /** Unix seconds. */
  readonly now: () => number;
  /** Told of every failure that is not the model's own word. */
  readonly onFault: (fault: unknown) => void;
  /** Told of the final snapshot when the run ends here. Must not throw. */
  readonly onEnd?: (response: Response) => void;
  readonly watch?: RunWatch;
}

/** What a run needs until it ends. */
type LastingStart = Omit<RunStart, "ask" | "opened">;

export interface LiveRun {
  readonly responseId: string;
  /** The events from the first on, in the batches they come in, for the one who started the run. */
  readonly events: AsyncGenerator<readonly RecordedEvent[]>;
  /** A further reader's place at the events to come. */
  subscribe(): Subscription;
  /** Settles when the run has ended and everything about it is stored. Never rejects. */
  readonly ended: Promise<void>;
}

/** A run that is stored and waits for its turn. */
export interface QueuedRun {
  readonly responseId: string;
  /** False: it only has to be ended, which need not wait for anything. */
  readonly asksModel: boolean;
  /** A reader's place at the events to come. */
  subscribe(): Subscription;
  /** Asks the model, and goes on to the end. Never rejects. Call it once, also for a run that was stopped meanwhile. */
  drive(): Promise<void>;
}

/**
 * Starts a run of the foreground. Rejects as `ask` does; resolves once its first events are stored, so that the id they
 * carry can be fetched. Where the model takes longer than `acceptWaitMs`, the run begins without it, and a refusal that
 * comes later ends the run as failed.
 */
export async function startRun(start: RunStart): Promise<LiveRun> {
  const { log, plan, signal } = start;
  start.watch?.began();
  const turn = start.ask(signal).catch((fault: unknown) => {
    if (!signal.aborted) throw fault;
    return SILENCE; // The run ends as whoever stopped it says.
  });
  await settledWithin(turn, start.acceptWaitMs);
  const { driver, feed } = driverOf(start, { nextNumber: 0, state: waiting(plan) });
  const live = feed.subscribe();
  await driver.open(start.opened, { type: "accepted" });
  const responseId = plan.response.id;
  const events = readEvents({ responseId, log, live, isLiveFromStart: true }, -1);
  return { responseId, events, subscribe: () => feed.subscribe(), ended: driver.drive(() => turn) };
}

/** Resolves once `work` is done, or when `ms` have passed; rejects as `work` does before that. */
async function settledWithin(work: Promise<unknown>, ms: number | undefined): Promise<void> {
  if (ms === undefined) return void (await work);
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** Stores a run of the background before its model is asked. Resolves once its first events are stored. */
export async function queueRun(start: RunStart): Promise<QueuedRun> {
  const { driver, feed } = driverOf(start, { nextNumber: 0, state: waiting(start.plan) });
  await driver.open(start.opened, { type: "queued" });
  return queued(start, feed, () => driver.drive(asking(start)));
}

/**
 * Takes up a run that another worker began. Where nothing of the answer was shown, its model is asked (again);
 * otherwise it ends as failed, whatever was open in it closed. `hindrance`: why its model cannot be asked; null: it
 * can.
 */
export function resumeRun(start: RunStart, logged: readonly RecordedEvent[], hindrance: RunFailure | null): QueuedRun {
  const restored = restoreRun(start.plan, logged);
  const nextNumber = (logged.at(-1)?.number ?? -1) + 1;
  const { driver, feed } = driverOf(start, { nextNumber, state: restored.state });
  if (hindrance === null && !restored.hasAnswer) return queued(start, feed, () => driver.drive(asking(start)));
  const failure = restored.hasAnswer ? INTERRUPTED_FAILURE : (hindrance ?? INTERRUPTED_FAILURE);
  const end = restored.end({ type: "model_failed", failure });
  return { ...queued(start, feed, () => driver.end(end)), asksModel: false };
}

function queued({ plan }: RunStart, feed: LiveFeed, drive: () => Promise<void>): QueuedRun {
  return { responseId: plan.response.id, asksModel: true, subscribe: () => feed.subscribe(), drive };
}

const SILENCE: Turn = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) };

function asking({ ask, watch }: RunStart): RunStart["ask"] {
  return (signal) => {
    watch?.began();
    return ask(signal);
  };
}

function driverOf(start: RunStart, { nextNumber, state }: { nextNumber: number; state: RunState }) {
  const { ask: _asked, opened: _stored, ...lasting } = start; // They hold the whole context, and a run may last.
  const { log, plan, signal } = lasting;
  const feed = new LiveFeed(log !== null);
  signal.addEventListener("abort", () => feed.hurry(), { once: true });
  const recorder = createRecorder({ responseId: plan.response.id, log, feed, nextNumber });
  return { driver: new RunDriver(lasting, recorder, state), feed };
}

/** Turns the world into signals, one batch at a time, and has what they make visible recorded. */
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
    return this.#unfailing(async () => {
      const last = await this.#listen(ask);
      if (last === null) this.#leave();
      else await this.#end(transition(this.#state, last));
    });
  }

  /** Never rejects. */
  end(end: Transition): Promise<void> {
    return this.#unfailing(() => this.#end(end));
  }

  /** A fault of ours leaves the run without an end, to be found by those who look for runs that nobody makes. */
  async #unfailing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      this.#start.onFault(fault);
      this.#leave();
    }
  }

  /** Records the end of the run; if that cannot be stored, shows one that follows what was. */
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
      this.#recorder.abandon(await this.#endOfWhatIsStored());
      this.#start.watch?.failed(fault);
      return this.#start.watch?.ended(unstored(response));
    }
    this.#start.watch?.ended(response);
  }

  #leave(): void {
    this.#recorder.leave();
    this.#start.watch?.left();
  }

  /** Readers have seen what is stored, which may end in the middle of an item. */
  async #endOfWhatIsStored(): Promise<readonly UnnumberedEvent[]> {
    const { log, plan } = this.#start;
    const stored: RecordedEvent[] = [];
    try {
      for await (const batch of log?.read(plan.response.id, -1) ?? []) stored.push(...batch);
    } catch (fault) {
      this.#start.onFault(fault);
    }
    return restoreRun(plan, stored).end({ type: "model_failed", failure: STORAGE_FAILURE }).events;
  }

  /** Records what the model says; gives the signal that ends the run, or null if the run goes on elsewhere. */
  async #listen(ask: RunStart["ask"]): Promise<RunSignal | null> {
    const { signal } = this.#start;
    try {
      if (!signal.aborted) await this.#accept(await ask(signal));
    } catch (fault) {
      if (fault instanceof RunLost) return null;
      if (!signal.aborted) return { type: "model_failed", failure: this.#failureOf(fault) };
    }
    if (signal.aborted) return stopSignal(signal);
    if (this.#isTooLong()) return { type: "model_failed", failure: TOO_LONG_FAILURE };
    return { type: "model_ended", at: this.#start.now() };
  }

  async #accept(turn: Turn): Promise<void> {
    const started = this.#step({ type: "accepted" });
    if (started.length > 0 && this.#state.phase === "answering")
      await this.#recorder.advance(started, this.#state.plan.response);
    for await (const batch of turn) {
      const events: UnnumberedEvent[] = [];
      for (const event of batch) events.push(...this.#step({ type: "model", event }));
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
  if (!(reason instanceof RunStopped)) return { type: "cancelled" }; // Its client left.
  return reason.signal;
}
