import type { Response } from "../../generated/responses-api/types.ts";
import { assertNever } from "../base/assert.ts";
import { ModelError } from "../runs/ports/model-error.ts";
import type { RunHappening } from "../runs/ports/run-watch.ts";
import { MODEL_ERROR_REASONS, modelErrorReason, REFUSAL_REASONS, refusalReason } from "./fault-reason.ts";
import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

export interface EndedRun {
  readonly isBackground: boolean;
  /** Milliseconds since the model was called. */
  readonly ms: number;
}

const MODES = ["foreground", "background"] as const;
const END_STATUSES = ["completed", "incomplete", "failed", "cancelled", "left"] as const;
const INTERRUPTIONS = ["crash", "handover", "store"] as const;
const CONTINUATIONS = ["same_item", "new_item"] as const;
const TOKEN_TYPES = ["input", "cached_input", "output", "reasoning"] as const;

/** The metrics of runs. */
export class RunMetrics {
  readonly #begun;
  readonly #ended;
  readonly #failed;
  readonly #refused;
  readonly #queue;
  readonly #firstEvent;
  readonly #duration;
  readonly #tokens;
  readonly #modelErrors;
  readonly #interrupted;
  readonly #waited;
  readonly #continued;
  /** Events of all runs. */
  events = 0;

  constructor(meters: Meters) {
    const modes = MODES.map((mode) => ({ mode }));
    this.#begun = meters.counter(METRICS.runsBegun, modes);
    const ends = modes.flatMap((labels) => END_STATUSES.map((status) => ({ ...labels, status })));
    this.#ended = meters.counter(METRICS.runsEnded, ends);
    this.#failed = meters.counter(METRICS.runsFailed, [{ code: "server_error" }]);
    this.#refused = meters.counter(
      METRICS.runsRefused,
      REFUSAL_REASONS.map((reason) => ({ reason })),
    );
    this.#queue = meters.histogram(METRICS.runQueue);
    this.#firstEvent = meters.histogram(METRICS.runFirstEvent);
    this.#duration = meters.histogram(METRICS.runDuration);
    this.#tokens = meters.counter(
      METRICS.tokens,
      TOKEN_TYPES.map((type) => ({ type })),
    );
    this.#modelErrors = meters.counter(
      METRICS.modelErrors,
      MODEL_ERROR_REASONS.map((reason) => ({ reason })),
    );
    this.#interrupted = meters.counter(
      METRICS.runsInterrupted,
      INTERRUPTIONS.map((by) => ({ by })),
    );
    this.#waited = meters.counter(METRICS.runsWaited, [{}]);
    this.#continued = meters.counter(
      METRICS.runsContinued,
      CONTINUATIONS.map((how) => ({ how })),
    );
    meters.watch(METRICS.runEvents, () => this.events);
  }

  began(isBackground: boolean, waitedMs: number): void {
    this.#begun.add(1, { mode: modeOf(isBackground) });
    if (isBackground) this.#queue.record(waitedMs / 1000);
  }

  heardFirst(isBackground: boolean, ms: number): void {
    this.#firstEvent.record(ms / 1000, { mode: modeOf(isBackground) });
  }

  modelFailed(error: ModelError): void {
    this.#modelErrors.add(1, { reason: modelErrorReason(error) });
  }

  ended({ status, error, usage }: Response, { isBackground, ms }: EndedRun): void {
    const mode = modeOf(isBackground);
    this.#ended.add(1, { mode, status: status ?? "completed" });
    this.#duration.record(ms / 1000, { mode });
    if (error != null) this.#failed.add(1, { code: error.code });
    if (usage == null) return;
    this.#tokens.add(usage.input_tokens, { type: "input" });
    this.#tokens.add(usage.input_tokens_details.cached_tokens, { type: "cached_input" });
    this.#tokens.add(usage.output_tokens, { type: "output" });
    this.#tokens.add(usage.output_tokens_details.reasoning_tokens, { type: "reasoning" });
  }

  left(isBackground: boolean): void {
    this.#ended.add(1, { mode: modeOf(isBackground), status: "left" });
  }

  happened(happening: RunHappening): void {
    switch (happening.type) {
      case "interrupted":
        return this.#interrupted.add(1, { by: happening.by });
      case "waited":
        return this.#waited.add(1, {});
      case "continued":
        return this.#continued.add(1, { how: happening.how });
      case "held_back":
        return; // The run had no incident.
      default:
        return assertNever(happening);
    }
  }

  refused(reason: unknown): void {
    this.#refused.add(1, { reason: refusalReason(reason) });
    if (reason instanceof ModelError) this.modelFailed(reason);
  }
}

function modeOf(isBackground: boolean): (typeof MODES)[number] {
  return isBackground ? "background" : "foreground";
}
