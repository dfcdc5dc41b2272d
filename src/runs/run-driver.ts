import { createRecorder, type EventRecorder } from "./event-recorder.ts";
import { LiveFeed } from "./live-feed.ts";
import { type EventLog, ModelError, type ModelEvent, type OpenedRun, type RecordedEvent } from "./ports.ts";
import { readEvents } from "./read-events.ts";
import { responseErrorCode } from "./response-error-code.ts";
import type { RunFailure, RunPlan, RunSignal, RunState } from "./run-state.ts";
import { transition, waiting } from "./transition.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/** How much one answer may say, all of its items together; it is held in memory until it ends. */
export const ANSWER_CHARACTERS_MAX = 16 * 1024 * 1024;

export interface RunStart {
  readonly plan: RunPlan;
  readonly opened: OpenedRun;
  /** Null: the run is not stored. */
  readonly log: EventLog | null;
  /** A turn the model has accepted. */
  readonly turn: AsyncIterable<readonly ModelEvent[]>;
  /** Ends the run as cancelled. */
  readonly signal: AbortSignal;
  /** Unix seconds. */
  readonly now: () => number;
  /** Told of every failure that is not the model's own word. */
  readonly onFault: (fault: unknown) => void;
}

export interface LiveRun {
  readonly responseId: string;
  /** The events from the first on, in the batches they come in, for the one who started the run. */
  readonly events: AsyncGenerator<readonly RecordedEvent[]>;
  /** Settles when the run has ended and everything about it is stored. Never rejects. */
  readonly ended: Promise<void>;
}

/** Starts a run. Resolves once its first events are stored, so that the id they carry can be fetched. */
export async function startRun(start: RunStart): Promise<LiveRun> {
  const responseId = start.plan.response.id;
  const feed = new LiveFeed(start.log !== null);
  const events = readEvents({ responseId, log: start.log, live: feed.subscribe(), isLiveFromStart: true }, -1);
  const driver = new RunDriver(start, createRecorder(responseId, start.log, feed));
  try {
    await driver.open();
  } catch (fault) {
    await start.turn[Symbol.asyncIterator]().return?.(); // Nobody will listen: let the model stop.
    throw fault;
  }
  return { responseId, events, ended: driver.drive() };
}

/** Turns the world into signals, one batch at a time, and has what they make visible recorded. */
class RunDriver {
  readonly #start: RunStart;
  readonly #recorder: EventRecorder;
  #state: RunState;

  constructor(start: RunStart, recorder: EventRecorder) {
    this.#start = start;
    this.#recorder = recorder;
    this.#state = waiting(start.plan);
  }

  async open(): Promise<void> {
    await this.#recorder.open(this.#start.opened, this.#step({ type: "accepted" }));
  }

  async drive(): Promise<void> {
    const last = await this.#listen();
    const before = this.#state;
    const events = this.#step(last);
    try {
      await this.#close(events);
    } catch (fault) {
      this.#start.onFault(fault);
      this.#recorder.abandon(transition(before, { type: "model_failed", failure: STORAGE_FAILURE }).events);
    }
  }

  /** Records what the model says; gives the signal that ends the run. */
  async #listen(): Promise<RunSignal> {
    try {
      for await (const batch of this.#start.turn) {
        const events: UnnumberedEvent[] = [];
        for (const event of batch) events.push(...this.#step({ type: "model", event }));
        if (events.length > 0) await this.#recorder.record(events);
        if (this.#isTooLong()) return { type: "model_failed", failure: TOO_LONG_FAILURE };
        if (this.#start.signal.aborted) break;
      }
    } catch (fault) {
      if (!this.#start.signal.aborted) return { type: "model_failed", failure: this.#failureOf(fault) };
    }
    return this.#start.signal.aborted ? { type: "cancelled" } : { type: "model_ended", at: this.#start.now() };
  }

  #isTooLong(): boolean {
    return this.#state.phase === "answering" && this.#state.characters > ANSWER_CHARACTERS_MAX;
  }

  async #close(events: readonly UnnumberedEvent[]): Promise<void> {
    if (this.#state.phase !== "ended") return;
    const { response } = this.#state;
    await this.#recorder.close(events, { response, outputItems: response.output });
  }

  #step(signal: RunSignal): readonly UnnumberedEvent[] {
    const next = transition(this.#state, signal);
    this.#state = next.state;
    return next.events;
  }

  #failureOf(fault: unknown): RunFailure {
    if (fault instanceof ModelError) {
      return modelFailure(fault);
    }
    this.#start.onFault(fault);
    return INTERNAL_FAILURE;
  }
}

function modelFailure({ type, code, message, param }: ModelError): RunFailure {
  return { type, code: code ?? type, message, param, responseCode: responseErrorCode(code) };
}

const INTERNAL_FAILURE: RunFailure = {
  type: "server_error",
  code: "server_error",
  message: "An error occurred while processing your request. You can retry your request.",
  param: null,
  responseCode: "server_error",
};

const TOO_LONG_FAILURE: RunFailure = {
  ...INTERNAL_FAILURE,
  message: `The answer is longer than ${ANSWER_CHARACTERS_MAX} characters, which is more than this server holds.`,
};

const STORAGE_FAILURE: RunFailure = {
  ...INTERNAL_FAILURE,
  message: "The response could not be stored. You can retry your request.",
};
