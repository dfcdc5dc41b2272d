import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { mayChangeWorld, type ToolCall, type ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { ApprovalSpent } from "@antiphon/domain/tool-ledger.ts";
import { RunLost } from "../../runs/ports/store-faults.ts";
import {
  brokenForm,
  type CallResult,
  endUnrun,
  type MadeRun,
  outputOf,
  spentElsewhere,
  toolCallEnd,
} from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import { repeatPause } from "./recording/call-attempts.ts";
import type { CallRecorder } from "./recording/call-recorder.ts";

/** Sent to the model if this server has a bug while a call runs. */
const BROKE = "The tool broke. How far it came is unknown.";
const NOT_MADE = "The call was not made, because this server has a fault.";

export interface CallRunnerParts {
  readonly services: Pick<LoopServices, "tools" | "observer">;
  readonly task: ToolTask;
  readonly run: LoopRun;
  readonly signal: AbortSignal;
}

/** Runs the calls of one response, a limited number at a time, and shows their steps. */
export class CallRunner {
  readonly #parts: CallRunnerParts;
  readonly #recorder: CallRecorder;
  readonly #slots: Semaphore;
  #hasRun = false;

  constructor(parts: CallRunnerParts, recorder: CallRecorder) {
    this.#parts = parts;
    this.#recorder = recorder;
    this.#slots = new Semaphore(parts.services.tools.limits.parallelMax);
  }

  /** Whether a call has run. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Calls have run before a crash. */
  goOn(): void {
    this.#hasRun = true;
  }

  /** `end`: whether the turn has ended well. */
  async run(job: MadeRun, call: ToolCall, args: string, end: Promise<boolean>): Promise<CallResult> {
    // A call with effects waits until the model has finished its turn.
    if (mayChangeWorld(call.effect) && !(await end)) return endUnrun(job);
    const release = await this.#slots.take(this.#parts.signal);
    try {
      return await this.#watchRun(job, call, args);
    } finally {
      release();
    }
  }

  async #watchRun(job: MadeRun, call: ToolCall, args: string): Promise<CallResult> {
    const { services, run, task, signal } = this.#parts;
    const trace = task.request.trace ?? null;
    this.#hasRun = true;
    const watch = services.observer.began({ responseId: run.responseId, kind: job.called.kind ?? "mcp", trace });
    let hasBegun = false;
    try {
      if (call.item !== null) await this.#recorder.begin(job, call, call.item.id, args);
      hasBegun = true;
      const outcome = await this.#outcome(job, call, args);
      const result = await this.#recorder.end(job, call, args, outcome);
      watch.noteEnd(toolCallEnd(outcome));
      return result;
    } catch (fault) {
      const isCut = signal.aborted || fault instanceof RunLost || fault instanceof ApprovalSpent;
      const isUnknown = hasBegun && mayChangeWorld(call.effect);
      watch.noteEnd(isCut ? "cut" : isUnknown ? "unknown" : "broken");
      if (fault instanceof ApprovalSpent) throw spentElsewhere(job.approvalRequestId ?? "");
      if (isCut) throw fault;
      run.listener.onFault(fault);
      if (isUnknown) return await this.#recorder.endUnknown(job, call, args);
      const { item } = job.view;
      const last = item === null ? null : brokenForm(item);
      if (last !== null) job.place.add({ type: "item_finished", item: last });
      return { output: outputOf(job, hasBegun ? BROKE : NOT_MADE), asks: false, item: last };
    }
  }

  /** An idempotent call is made again, with the same key, while nobody knows whether it has acted. */
  async #outcome(job: MadeRun, call: ToolCall, args: string): Promise<ToolOutcome> {
    const { signal, services } = this.#parts;
    const { attemptsMax, repeatMs } = services.tools.limits;
    for (;;) {
      const outcome = await this.#runOnce(job, call, args);
      if (call.effect !== "idempotent" || call.item === null) return outcome;
      const attempts = await this.#recorder.noteUnsettled(job, call, args, outcome);
      if (attempts === null) return outcome;
      if (attempts >= attemptsMax) return { type: "unknown" };
      services.observer.noteEffect("repeated");
      await sleep(repeatPause(repeatMs, attempts), undefined, { signal });
      await this.#recorder.begin(job, call, call.item.id, args);
    }
  }

  async #runOnce(job: MadeRun, call: ToolCall, args: string): Promise<ToolOutcome> {
    const { signal } = this.#parts;
    const steps = call.run(args, signal);
    for (;;) {
      const next = await steps.next();
      signal.throwIfAborted();
      if (next.done === true) return next.value;
      job.place.add({ type: "item_step", step: next.value });
      await job.place.room();
    }
  }
}
