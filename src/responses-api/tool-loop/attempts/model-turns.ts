import { setTimeout as sleep } from "node:timers/promises";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { RunSuspended } from "../../../runs/ports/store-faults.ts";
import type { LoopRun, LoopServices, ToolTask } from "../loop-parts.ts";
import { continueItem } from "../resume/continue-item.ts";
import type { OpenPart } from "../turn/open-text.ts";
import type { RetryBudget } from "./model-retries.ts";
import { TurnRetries } from "./turn-retries.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

/** A background run that waits longer than this releases its place, in milliseconds. */
const WAIT_IN_PLACE_MS_MAX = 2_000;
/** The clients of foreground runs wait, and retry by themselves before a tool has acted. */
const FOREGROUND_BUDGET: RetryBudget = { failuresMax: 3, withinMs: 60_000 };
const NO_BUDGET: RetryBudget = { failuresMax: 0, withinMs: 0 };
/** Statuses of an overloaded model server. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 503]);

interface TurnParts {
  readonly task: ToolTask;
  readonly run: LoopRun;
  readonly signal: AbortSignal;
}

/** Requests the turns of one response from the model, and retries failed ones. */
export class ModelTurns {
  readonly #services: Pick<LoopServices, "engine" | "retries">;
  readonly #parts: TurnParts;
  readonly #retries: TurnRetries;
  readonly #hasActed: () => boolean;

  /** `hasActed`: whether a tool has run for the response. */
  constructor(services: Pick<LoopServices, "engine" | "retries">, parts: TurnParts, hasActed: () => boolean) {
    this.#services = services;
    this.#parts = parts;
    this.#retries = new TurnRetries(parts.run.past.attempts);
    this.#hasActed = hasActed;
  }

  /**
   * Resolves once the model has accepted the turn. `open` is an item of an earlier attempt, which this one continues if
   * possible. Rejects with the `ModelError` if no more attempts are made, and with `RunSuspended`.
   */
  async ask(request: ModelRequest, turn: number, open: OpenPart | null): Promise<Turn> {
    for (;;) {
      try {
        return await this.#askOnce(request, open);
      } catch (error) {
        await this.waitAfter(error, turn, open);
      }
    }
  }

  /** Resolves when the turn may be retried; otherwise like `ask`. `open`: the shown part of the interrupted item. */
  async waitAfter(error: unknown, turn: number, open: OpenPart | null): Promise<void> {
    const { run, signal } = this.#parts;
    const { gate } = this.#services.retries;
    const isShown = open !== null && open.text !== "";
    const mayGoOn = !isShown || !this.#failsWhenInterrupted || (await this.#isContinued(open));
    const budget = signal.aborted || !mayGoOn ? NO_BUDGET : this.#budget;
    const pauseMs = this.#retries.next(error, turn, budget);
    if (!(error instanceof ModelError) || pauseMs === null) {
      gate.open();
      throw error;
    }
    if (OVERLOADED.has(error.status)) gate.close(pauseMs);
    else gate.open();
    run.listener.onIncident({ type: "waited", pauseMs, error: error.message });
    await this.#wait(pauseMs);
  }

  /** The failure of a turn that ended without a finish. */
  unfinishedError(): ModelError {
    return new ModelError("The model stopped before it finished its answer.", {
      status: 502,
      type: "server_error",
      code: "server_error",
      retry: "often",
    });
  }

  async #askOnce(request: ModelRequest, open: OpenPart | null): Promise<Turn> {
    const { engine, retries } = this.#services;
    const { run, signal } = this.#parts;
    if (run.isBackground) await this.#enter();
    const scope = open !== null && (await this.#isContinued(open)) ? "rest" : "again";
    const beginning = scope === "rest" ? open?.text : undefined;
    const turn = await engine.sample(request, signal, beginning, run.listener.onAnsweredBy);
    retries.gate.open();
    if (open === null) return turn;
    return continueItem(open, {
      scope,
      turn,
      onDecided: (how) => run.listener.onIncident({ type: "continued", how }),
    });
  }

  /** Waits for its turn if the model server is overloaded. */
  async #enter(): Promise<void> {
    const { gate } = this.#services.retries;
    if (gate.waitMs > WAIT_IN_PLACE_MS_MAX) await this.#wait(gate.waitMs);
    await gate.enter(this.#parts.signal);
  }

  /** Text is continued if the model can get the exact beginning of its answer. */
  async #isContinued(open: OpenPart): Promise<boolean> {
    const { task, signal } = this.#parts;
    const { model, topLogprobs } = task.request;
    const isText = open.type === "message" && open.isPlain && open.text !== "" && !open.text.includes("【");
    if (!isText || topLogprobs !== null || task.speech !== null) return false;
    return await this.#services.engine.continuesAnswers(model, signal);
  }

  async #wait(ms: number): Promise<void> {
    const { run, signal } = this.#parts;
    if (run.isBackground && ms > WAIT_IN_PLACE_MS_MAX) throw new RunSuspended(ms, this.#retries.attempts);
    await sleep(ms, null, { signal });
  }

  get #budget(): RetryBudget {
    const { budget } = this.#services.retries;
    if (this.#parts.run.isBackground) return budget;
    if (!this.#hasActed()) return NO_BUDGET;
    return {
      failuresMax: Math.min(budget.failuresMax, FOREGROUND_BUDGET.failuresMax),
      withinMs: Math.min(budget.withinMs, FOREGROUND_BUDGET.withinMs),
    };
  }

  /** Whether an interrupted text fails the response. Foreground clients have the text and see it break off. */
  get #failsWhenInterrupted(): boolean {
    const { task, run } = this.#parts;
    return (task.interruption ?? (run.isBackground ? "restart" : "fail")) === "fail";
  }
}
