import type { Logger } from "@antiphon/base/logger.ts";
import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { RunIncident, RunObserver, RunWatch, WatchedRun } from "../runs/ports/run-watch.ts";
import { faultReason } from "./fault-reason.ts";
import type { RequestFacts } from "./requests/request-facts.ts";
import type { RunMetrics } from "./run-metrics.ts";
import type { RunSpan, Tracing } from "./tracing.ts";

export interface RunWatchParts {
  readonly metrics: RunMetrics;
  readonly tracing: Tracing | null;
  readonly log: Logger;
  /** Receives the facts of a foreground run while its request is open. */
  readonly facts: RequestFacts;
}

/** The maximum characters of a model's name in the log: clients choose the name. */
const MODEL_CHARACTERS_MAX = 100;

/** Reasons that the caller can fix and the operator cannot. */
const CALLERS_REASONS: ReadonlySet<string> = new Set(["context_length", "refused", "unknown_model"]);

const HAPPENED: Readonly<Record<RunIncident["type"], string>> = {
  interrupted: "going on with a run that was interrupted",
  waited: "asking a model again after a pause",
  continued: "going on with an item that was interrupted",
  held_back: "holding tools back from a model with a small window",
};

/** Texts of other servers are shown to the caller and not logged. */
function withoutTexts(incident: RunIncident) {
  if (incident.type !== "waited") return incident;
  const { type, pauseMs } = incident;
  return { type, pauseMs };
}

/** Turns the outcomes of runs into metrics, log lines and spans. */
export function observeRuns(parts: RunWatchParts): RunObserver {
  return { watch: (run) => new RunRecord(run, parts, parts.tracing?.beginRun(run) ?? null) };
}

class RunRecord implements RunWatch {
  readonly trace: TraceContext | null;
  readonly #run: WatchedRun;
  readonly #parts: RunWatchParts;
  readonly #span: RunSpan | null;
  readonly #createdAt = performance.now();
  #begunAt: number | null = null;
  #firstEventAt: number | null = null;
  #events = 0;
  #reason: string | null = null;

  constructor(run: WatchedRun, parts: RunWatchParts, span: RunSpan | null) {
    this.#run = run;
    this.#parts = parts;
    this.#span = span;
    this.trace = span === null ? run.trace : span.trace;
  }

  began(): void {
    this.#begunAt = performance.now();
    this.#parts.metrics.began(this.#run.isBackground, this.#begunAt - this.#createdAt);
    this.#span?.began();
    const { isBackground } = this.#run;
    this.#parts.log[isBackground ? "info" : "debug"]({ ...this.#names(), background: isBackground }, "run began");
  }

  countEvents(events: number): void {
    this.#events += events;
    this.#parts.metrics.events += events;
    if (this.#firstEventAt === null && events > 0) this.#heardFirst();
  }

  noteFailure(fault: unknown): void {
    this.#reason = faultReason(fault);
    this.#span?.noteFailure(this.#reason);
    if (!(fault instanceof ModelError)) return; // Other faults are logged where they are caught.
    this.#parts.metrics.modelFailed(fault);
    const isWarning = !CALLERS_REASONS.has(this.#reason);
    const fields = { reason: this.#reason, err: fault };
    if (this.#tellRequest(fields, isWarning)) return;
    const level = isWarning ? "warn" : "info";
    this.#parts.log[level]({ ...this.#names(), ...fields }, "model server aborted an answer");
  }

  noteEnd(response: Response): void {
    const ms = this.#sinceBegun();
    const { isBackground, face } = this.#run;
    this.#parts.metrics.noteEnd(response, { isBackground, face, ms });
    this.#span?.end(response);
    const { status } = response;
    const facts = this.#factsOf(response);
    if (this.#tellRequest({ outcome: status, ...facts })) return;
    this.#parts.log.info({ ...this.#names(), status, ms: Math.round(ms), ...facts }, "run ended");
  }

  #factsOf({ usage, error }: Response): object {
    return {
      queueMs: Math.round((this.#begunAt ?? performance.now()) - this.#createdAt),
      firstEventMs: this.#firstEventAt === null ? null : Math.round(this.#firstEventAt - (this.#begunAt ?? 0)),
      events: this.#events,
      inputTokens: usage?.input_tokens ?? null,
      cachedTokens: usage?.input_tokens_details.cached_tokens ?? null,
      outputTokens: usage?.output_tokens ?? null,
      reasoningTokens: usage?.output_tokens_details.reasoning_tokens ?? null,
      ...(error == null ? {} : { code: error.code, reason: this.#reason }),
    };
  }

  noteRefusal(reason: unknown): void {
    this.#parts.metrics.noteRefusal(reason);
    const reasonName = faultReason(reason);
    this.#span?.noteFailure(reasonName);
    this.#span?.end(null);
    if (this.#tellRequest({ reason: reasonName })) return;
    this.#parts.log.info({ ...this.#names(), reason: reasonName }, "run refused");
  }

  noteIncident(incident: RunIncident): void {
    this.#parts.metrics.noteIncident(incident);
    const { type, ...facts } = withoutTexts(incident);
    this.#parts.log.info({ ...this.#names(), ...facts }, HAPPENED[type]);
  }

  noteLeave(): void {
    this.#parts.metrics.noteLeave(this.#run.isBackground);
    this.#span?.end(null);
    this.#parts.log.info(this.#names(), "run left to another server");
  }

  /** Returns whether the request's line will include it. Background runs have their own lines. */
  #tellRequest(fields: object, isWarning = false): boolean {
    const { requestId, isBackground } = this.#run;
    return !isBackground && this.#parts.facts.add(requestId, { isWarning, fields: { ...this.#names(), ...fields } });
  }

  #heardFirst(): void {
    this.#firstEventAt = performance.now();
    this.#parts.metrics.heardFirst(this.#run.isBackground, this.#sinceBegun());
  }

  #sinceBegun(): number {
    return this.#begunAt === null ? 0 : performance.now() - this.#begunAt;
  }

  #names(): object {
    const { responseId, requestId, model, face } = this.#run;
    const names = { responseId, requestId, model: model.slice(0, MODEL_CHARACTERS_MAX) };
    return face === null ? names : { ...names, face };
  }
}
