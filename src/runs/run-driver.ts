import { assert } from "@antiphon/base/assert.ts";
import type { Response, ResponseNote, Usage } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { EventLog, OpenedRun } from "./ports/event-log.ts";
import type { RunWatch } from "./ports/run-watch.ts";
import { RunLost, RunPaused, RunSuspended, StoreBusy, StoreStopped } from "./ports/store-faults.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { EventRecorder } from "./recording/event-recorder.ts";
import { restoreRun, type ShownAnswer } from "./restore-run.ts";
import {
  ANSWER_CHARACTERS_MAX,
  INTERNAL_FAILURE,
  modelFailure,
  RunStopped,
  STORAGE_FAILURE,
  TOO_LONG_FAILURE,
} from "./run-failures.ts";
import type { RunFailure, RunPlan, RunSignal, RunState } from "./run-state.ts";
import { type Transition, transition, transitionAll } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

export type Turn = AsyncIterable<readonly ModelEvent[]>;

/**
 * `storeNow` stores the run so far if it is a stored run. Call it before the run acts on the world, because a crash
 * must not hide such an act. It rejects if the run cannot be stored.
 */
export type AskForTurn = (signal: AbortSignal, storeNow: () => Promise<void>) => Promise<Turn>;

export interface RunStart {
  readonly plan: RunPlan;
  readonly openedRun: OpenedRun;
  /** Null if the run is not stored. */
  readonly log: EventLog | null;
  /** Calls the model. Resolves once the model has accepted the turn; rejects with `ModelError` if it refused. */
  readonly ask: AskForTurn;
  /** Requests the rest of an answer whose beginning, `shown`, was shown before a crash; null if that is impossible. */
  readonly resume?: (shownAnswer: ShownAnswer) => AskForTurn | null;
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
  /** Called with what the run used, once it has ended here and no other worker continues it. Must not throw. */
  readonly onUsed?: (use: RunUse) => void;
  /** Called when this process is done with the run, even without an end. Must not throw. */
  readonly onOver?: () => void;
  readonly watch?: RunWatch;
}

/** What a run used. */
export interface RunUse {
  readonly response: Response;
  /** An estimate if the run ended early; null if its model said nothing. */
  readonly usage: Usage | null;
}

/** The parts that a run needs until it ends. */
export interface LastingStart extends Pick<RunStart, "plan" | "log" | "signal" | "now" | "onFault"> {
  readonly onEnd?: RunStart["onEnd"] | undefined;
  readonly onUsed?: RunStart["onUsed"] | undefined;
  readonly watch?: RunStart["watch"] | undefined;
}

/** How this process finished with a run. */
export type RunOutcome =
  /** It has ended; `response` is the final snapshot as shown to its readers. The store may lack its end. */
  | {
      readonly type: "ended";
      readonly response: Response;
      /** Notes that are only known at the end. */
      readonly notes: readonly ResponseNote[];
      readonly isStored: boolean;
    }
  /** It was deleted, or another worker continues it. */
  | { readonly type: "left"; readonly cause: LeaveCause }
  /** It is over and not stored. `fault` says why. */
  | { readonly type: "unstored"; readonly fault: unknown };

/** Why this process does not continue a run. */
export type LeaveCause =
  /** It was deleted, or another worker has claimed it. */
  | { readonly type: "lost" }
  /** It was released to other workers. */
  | { readonly type: "released" }
  /** The store could not be reached for too long. */
  | { readonly type: "store" }
  /** Readers saw an end that could not be stored. */
  | { readonly type: "unstored_end" }
  /** It waits until it is due. */
  | { readonly type: "suspended"; readonly suspension: RunSuspended }
  /** It waits until it is resumed. */
  | { readonly type: "paused" }
  /** This process has a bug. */
  | { readonly type: "fault" };

const OPENED = Promise.resolve();

/** Turns the model's batches, aborts and faults into signals, and records the resulting events. */
export class RunDriver {
  readonly #start: LastingStart;
  readonly #recorder: EventRecorder;
  #state: RunState;

  constructor(start: LastingStart, recorder: EventRecorder, state: RunState) {
    this.#start = start;
    this.#recorder = recorder;
    this.#state = state;
  }

  async open(openedRun: OpenedRun, first: RunSignal): Promise<void> {
    await this.#recorder.open(openedRun, this.#step(first));
  }

  /**
   * Calls the model and records its answer. Never rejects. `opening` is the promise of `open` if it is still running;
   * the first words are stored right after the beginning. If it rejects, there is no run to report.
   */
  drive(ask: RunStart["ask"], opening: Promise<void> = OPENED): Promise<RunOutcome> {
    const openFailure = opening.then(
      () => null,
      (fault: unknown): RunOutcome => ({ type: "unstored", fault }),
    );
    return this.#reportFaults(async () => {
      const last = await this.#runTurn(ask, openFailure);
      const failure = await openFailure;
      if (failure !== null) return failure;
      return last.type === "left"
        ? await this.#leave(last.reason)
        : await this.#end(transition(this.#state, last.signal));
    });
  }

  /** Never rejects. */
  end(end: Transition): Promise<RunOutcome> {
    return this.#reportFaults(() => this.#end(end));
  }

  /** On an internal fault, a stored run stays open; the run recovery finds and ends it. */
  async #reportFaults(work: () => Promise<RunOutcome>): Promise<RunOutcome> {
    try {
      return await work();
    } catch (fault) {
      this.#start.onFault(fault);
      return await this.#leave(fault);
    }
  }

  async #end({ state, events }: Transition): Promise<RunOutcome> {
    this.#state = state;
    assert(state.phase === "ended", "the last signal ends the run");
    const { response, notes, usage } = state;
    this.#start.onEnd?.(response);
    try {
      await this.#recorder.close(events, { response, outputItems: response.output, notes });
    } catch (fault) {
      if (fault instanceof RunLost) return await this.#leave(fault);
      this.#start.onUsed?.({ response, usage });
      return await this.#endUnstored(response, fault);
    }
    this.#start.onUsed?.({ response, usage });
    this.#start.watch?.noteEnd(response);
    return { type: "ended", response, notes, isStored: true };
  }

  async #leave(fault: unknown): Promise<RunOutcome> {
    this.#recorder.closeFeed();
    // Whoever continues the run here must not find an append of this driver behind what it has read.
    if (!(fault instanceof RunStopped)) await this.#recorder.settle();
    this.#start.watch?.noteLeave();
    return this.#recorder.isStored ? { type: "left", cause: leaveCause(fault) } : { type: "unstored", fault };
  }

  /**
   * Ends a run whose end cannot be stored. If its beginning is stored, shows a failed end that fits the stored events.
   */
  async #endUnstored(response: Response, fault: unknown): Promise<RunOutcome> {
    this.#start.onFault(fault);
    this.#start.watch?.noteFailure(fault);
    this.#start.watch?.noteEnd(unstoredResponse(response));
    if (!this.#recorder.isStored) {
      this.#recorder.closeFeed();
      return { type: "unstored", fault };
    }
    const { state, events } = await this.#failedEndAfterStored();
    this.#recorder.showUnstoredEnd(events);
    const finalResponse = state.phase === "ended" ? state.response : unstoredResponse(response);
    return { type: "ended", response: finalResponse, notes: [], isStored: false };
  }

  /** The failed end. Readers have seen the stored events, which may stop within an item. */
  async #failedEndAfterStored(): Promise<Transition> {
    const { log, plan } = this.#start;
    const events: RecordedEvent[] = [];
    try {
      for await (const batch of log?.read(plan.response.id, -1) ?? []) events.push(...batch);
    } catch (fault) {
      this.#start.onFault(fault);
    }
    return restoreRun(plan, events).end({ type: "model_failed", failure: STORAGE_FAILURE });
  }

  /** Records the model's answer. */
  async #runTurn(ask: RunStart["ask"], openFailure: Promise<RunOutcome | null>): Promise<Last> {
    const { signal } = this.#start;
    try {
      if (!signal.aborted) await this.#recordTurn(await ask(signal, IS_STORED));
    } catch (fault) {
      const isAway = fault instanceof StoreBusy && this.#recorder.isStored;
      const isEnded = fault instanceof RunPaused && signal.aborted; // Whoever stopped it wants no pause.
      if ((fault instanceof RunLost && !isEnded) || isAway || (await openFailure) !== null)
        return { type: "left", reason: fault };
      if (!signal.aborted) return ending({ type: "model_failed", failure: this.#failureOf(fault) });
    }
    if (signal.aborted) return endOfStop(signal);
    if (this.#isTooLong()) return ending({ type: "model_failed", failure: TOO_LONG_FAILURE });
    return ending({ type: "model_ended", at: this.#start.now() });
  }

  async #recordTurn(turn: Turn): Promise<void> {
    const firstEvents = this.#step({ type: "accepted" });
    if (firstEvents.length > 0 && this.#state.phase === "answering")
      await this.#recorder.advance(firstEvents, this.#state.plan.response);
    for await (const batch of turn) {
      const { state, events } = transitionAll(this.#state, batch);
      this.#state = state;
      this.#start.watch?.countEvents(events.length);
      const room = events.length === 0 ? undefined : this.#recorder.record(events);
      if (room !== undefined) await room;
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
    this.#start.watch?.noteFailure(fault);
    if (fault instanceof ModelError) return modelFailure(fault);
    this.#start.onFault(fault);
    return INTERNAL_FAILURE;
  }
}

/** For runs that are stored from their beginning, or never. */
const IS_STORED = async (): Promise<void> => {};

function unstoredResponse(response: Response): Response {
  const { responseCode, message } = STORAGE_FAILURE;
  return { ...response, status: "failed", error: { code: responseCode, message } };
}

/** How the answer of a model ended: with the signal that ends the run, or because another worker has the run. */
type Last = { readonly type: "ends"; readonly signal: RunSignal } | { readonly type: "left"; readonly reason: unknown };

function ending(signal: RunSignal): Last {
  return { type: "ends", signal };
}

function endOfStop({ reason }: AbortSignal): Last {
  if (!(reason instanceof RunStopped)) return ending({ type: "cancelled" }); // The client left.
  return reason.signal === null ? { type: "left", reason } : ending(reason.signal);
}

function leaveCause(fault: unknown): LeaveCause {
  if (fault instanceof RunSuspended) return { type: "suspended", suspension: fault };
  if (fault instanceof RunPaused) return { type: "paused" };
  if (fault instanceof StoreStopped || fault instanceof StoreBusy) return { type: "store" };
  if (fault instanceof RunLost) return { type: "lost" };
  return { type: fault instanceof RunStopped ? "released" : "fault" };
}
