import { assertNever } from "@antiphon/base/assert.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { FACE_NAMES, type FaceName } from "@antiphon/domain/faces.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { RunIncident } from "../runs/ports/run-watch.ts";
import { MODEL_ERROR_REASONS, modelErrorReason, REFUSAL_REASONS, refusalReason } from "./fault-reason.ts";
import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";

export interface EndedRun {
  readonly isBackground: boolean;
  /** The face by which it was asked for; null for the Responses API. */
  readonly face: FaceName | null;
  /** Milliseconds since the model was called. */
  readonly ms: number;
}

/** The Responses API itself, beside its other faces. */
const RESPONSES_FACE = "responses";
const MODES = ["foreground", "background"] as const;
const END_STATUSES = ["completed", "incomplete", "failed", "cancelled", "left"] as const;
const INTERRUPTIONS = ["crash", "handover", "store"] as const;
const CONTINUATIONS = ["same_item", "new_item"] as const;
const TOKEN_TYPES = ["input", "cached_input", "output", "reasoning"] as const;

/** The metrics of runs. */
export class RunMetrics {
  readonly #begins;
  readonly #ends;
  readonly #faces;
  readonly #failures;
  readonly #refusals;
  readonly #queue;
  readonly #firstEvent;
  readonly #duration;
  readonly #tokens;
  readonly #modelErrors;
  readonly #interruptions;
  readonly #waits;
  readonly #continuations;
  /** Events of all runs. */
  events = 0;

  constructor(meters: Meters) {
    const modes = MODES.map((mode) => ({ mode }));
    this.#begins = meters.counter(METRICS.runsBegun, modes);
    const ends = modes.flatMap((labels) => END_STATUSES.map((status) => ({ ...labels, status })));
    this.#ends = meters.counter(METRICS.runsEnded, ends);
    this.#faces = meters.counter(
      METRICS.runsByFace,
      [RESPONSES_FACE, ...FACE_NAMES].map((face) => ({ face })),
    );
    this.#failures = meters.counter(METRICS.runsFailed, [{ code: "server_error" }]);
    this.#refusals = meters.counter(
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
    this.#interruptions = meters.counter(
      METRICS.runsInterrupted,
      INTERRUPTIONS.map((by) => ({ by })),
    );
    this.#waits = meters.counter(METRICS.runsWaited, [{}]);
    this.#continuations = meters.counter(
      METRICS.runsContinued,
      CONTINUATIONS.map((how) => ({ how })),
    );
    meters.watch(METRICS.runEvents, () => this.events);
  }

  began(isBackground: boolean, waitedMs: number): void {
    this.#begins.add(1, { mode: modeOf(isBackground) });
    if (isBackground) this.#queue.record(waitedMs / 1000);
  }

  heardFirst(isBackground: boolean, ms: number): void {
    this.#firstEvent.record(ms / 1000, { mode: modeOf(isBackground) });
  }

  modelFailed(error: ModelError): void {
    this.#modelErrors.add(1, { reason: modelErrorReason(error) });
  }

  noteEnd({ status, error, usage }: Response, { isBackground, face, ms }: EndedRun): void {
    const mode = modeOf(isBackground);
    this.#ends.add(1, { mode, status: status ?? "completed" });
    this.#faces.add(1, { face: face ?? RESPONSES_FACE });
    this.#duration.record(ms / 1000, { mode });
    if (error != null) this.#failures.add(1, { code: error.code });
    if (usage == null) return;
    this.#tokens.add(usage.input_tokens, { type: "input" });
    this.#tokens.add(usage.input_tokens_details.cached_tokens, { type: "cached_input" });
    this.#tokens.add(usage.output_tokens, { type: "output" });
    this.#tokens.add(usage.output_tokens_details.reasoning_tokens, { type: "reasoning" });
  }

  noteLeave(isBackground: boolean): void {
    this.#ends.add(1, { mode: modeOf(isBackground), status: "left" });
  }

  noteIncident(incident: RunIncident): void {
    switch (incident.type) {
      case "interrupted":
        return this.#interruptions.add(1, { by: incident.by });
      case "waited":
        return this.#waits.add(1, {});
      case "continued":
        return this.#continuations.add(1, { how: incident.how });
      case "held_back":
        return; // The run had no incident.
      default:
        return assertNever(incident);
    }
  }

  noteRefusal(reason: unknown): void {
    this.#refusals.add(1, { reason: refusalReason(reason) });
    if (reason instanceof ModelError) this.modelFailed(reason);
  }
}

function modeOf(isBackground: boolean): (typeof MODES)[number] {
  return isBackground ? "background" : "foreground";
}
