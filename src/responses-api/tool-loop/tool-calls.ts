import type { Tool } from "../../../generated/responses-api/types.ts";
import { Semaphore } from "../../base/limits/semaphore.ts";
import type { ToolCall, ToolOutcome, ToolScope, ToolUsage } from "../../domain/hosted-tool.ts";
import { ApprovalSpent } from "../../domain/tool-ledger.ts";
import type { HostedFunction } from "../../runs/hosted.ts";
import type { ModelEvent } from "../../runs/ports/model-events.ts";
import { RunLost } from "../../runs/ports/store-faults.ts";
import type { ContextItem } from "../../runs/request/model-request.ts";
import { exchangeItems } from "../input/with-exchanges.ts";
import type { CallLine } from "./call-line.ts";
import type { Sources } from "./citations/sources.ts";
import { EqualCalls } from "./equal-calls.ts";
import {
  brokenForm,
  type CalledFunction,
  type CallResult,
  CUT,
  endUnrun,
  FreeCallIds,
  hostedCall,
  type MadeRun,
  notRepeatedResult,
  outputKeyOf,
  outputOf,
  repeatOf,
  spentElsewhere,
  toolCallEnd,
} from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import type { PlacedCall, ToolSet } from "./open-tools.ts";
import { CallRecorder } from "./recording/call-recorder.ts";
import { hostedResults } from "./results/hosted-results.ts";
import type { ResumePoint } from "./resume/resume-point.ts";
import {
  callIdOfStep,
  eventsOfStep,
  interrupted,
  itemOfStep,
  type PlannedCall,
  type ResumeStep,
  type ShownStep,
} from "./resume/resume-steps.ts";
import { ShownArguments } from "./shown-arguments.ts";
import type { RunApproval, SettledStep, StartedCall } from "./started-call.ts";
import { ToolUsageSum } from "./usage/tool-usage.ts";

type CallStarted = Extract<ModelEvent, { type: "call_started" }>;

/** Sent to the model if this server has a bug while a call runs. */
const BROKE = "The tool broke. How far it came is unknown.";
const NOT_MADE = "The call was not made, because this server has a fault.";

export interface CallParts {
  readonly services: Pick<LoopServices, "tools" | "ledger" | "spending" | "observer">;
  readonly task: ToolTask;
  readonly run: LoopRun;
  readonly set: ToolSet;
  readonly line: CallLine;
  readonly sources: Sources;
  readonly signal: AbortSignal;
  readonly newItemId: ToolScope["newItemId"];
}

/** Runs the calls of one response, several at a time, and shows each at its place in the line. */
export class ToolCalls {
  /** Client functions found by tool searches. */
  readonly found: Tool[] = [];
  readonly #parts: CallParts;
  readonly #slots: Semaphore;
  readonly #toolUsage = new ToolUsageSum();
  readonly #callIds = new FreeCallIds();
  #calls = 0;
  #hasRun = false;
  #usedBefore: readonly ToolUsage[] = [];
  /** The end of the previous call, if calls run one after the other. */
  #before: Promise<unknown> = Promise.resolve();
  readonly #equal = new EqualCalls();
  readonly #recorder: CallRecorder;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#recorder = new CallRecorder({ ...parts, found: this.found, toolUsage: this.#toolUsage });
    this.#slots = new Semaphore(parts.services.tools.limits.parallelMax);
    this.#callIds.add(parts.task.request.items.map(outputKeyOf));
  }

  /** Whether the limits allow another call. */
  get hasRoom(): boolean {
    return this.#calls < this.#callsMax;
  }

  /** Whether the function is not run any more, because its calls had no new results. */
  isOver(offered: Pick<HostedFunction, "name" | "server">): boolean {
    return this.#equal.refusal(offered) !== null;
  }

  /** Whether a call has run, so that the response consists of more than the model's text. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  get #callsMax(): number {
    const { task, services } = this.#parts;
    return Math.min(task.tools.callsMax ?? Number.POSITIVE_INFINITY, services.tools.limits.callsMax);
  }

  /** The model starts to write a call in this turn, counted from 1. */
  start(event: CallStarted, turn: number): StartedCall {
    const { set, line, newItemId, run } = this.#parts;
    const server = event.namespace ?? null;
    const placed = set.find(event.name, server);
    const over = this.#equal.refusal({ name: event.name, server });
    const refusal = placed === null ? `There is no tool '${event.name}'.` : (over ?? this.#limitReached());
    const callId = this.#callIds.take(event.callId);
    const call = refusal === null ? (placed?.tool.call(event.name, { callId, newItemId }) ?? null) : null;
    if (call !== null) this.#calls += 1;
    const called = { name: event.name, server, kind: placed?.kind ?? null };
    const place = line.take();
    const shown = new ShownArguments(call, place);
    const made = { called, callId, place, call, shown, refusal, approvalRequestId: null, turn };
    shown.begin();
    let done: Promise<CallResult> = Promise.resolve(CUT);
    return {
      add: (piece) => shown.add(piece),
      read: () => shown.read(),
      end: (isCut, ended) => {
        if (isCut) endUnrun(made);
        if (isCut) return null;
        const text = shown.end();
        done = this.#inTurn(() => this.#guarded(made, text, ended));
        // Nobody waits for it before the turn has ended.
        done.catch((fault: unknown) => (run.signal.aborted ? undefined : line.fail(fault)));
        return hostedCall(made, text);
      },
      result: () => done,
      itemId: call?.item?.id ?? null,
      refusal,
      isOver: over !== null,
    };
  }

  /** Continues the counts of a run that a crash interrupted. */
  goOnAt({ calls, found, items, output, steps, used }: ResumePoint): void {
    this.#calls = calls;
    this.#hasRun = calls > 0;
    this.#usedBefore = used.tools;
    for (const { call, item } of hostedResults(items)) if (call !== null) this.#equal.learn(call, item);
    this.found.push(...found);
    this.#callIds.add([...items, ...output, ...steps.flatMap(itemOfStep)].map(outputKeyOf));
    this.#callIds.add(steps.map(callIdOfStep));
  }

  /** Reports the tools' usage before a crash, if there was any. */
  showUsedBefore(): void {
    const place = this.#parts.line.take();
    const told = this.#usedBefore.map((used) => this.#toolUsage.add(used)).at(-1);
    if (told !== undefined) place.add(told);
    place.close();
  }

  /** Does a remaining step after a crash. The steps are shown in the order of the calls of this method. */
  async settle(step: ResumeStep): Promise<SettledStep> {
    if (step.type === "again") return await this.#runAgain(step);
    if (step.type === "planned") return await this.#runPlanned(step);
    return { items: await this.#showStep(step), asks: false };
  }

  async #showStep(step: ShownStep): Promise<readonly ContextItem[]> {
    const { services, run, line } = this.#parts;
    const place = line.take();
    const isNew = step.type === "settled" && step.isNew;
    if (isNew) await services.ledger?.finish(run.owner, run.responseId, step.result);
    place.add(...eventsOfStep(step));
    place.close();
    if (step.type === "said") return step.items;
    return step.type === "settled" ? exchangeItems({ ...step.exchange, result: step.result }) : [];
  }

  /** Runs a call without effects again. */
  async #runAgain({ exchange, item, first }: Extract<ResumeStep, { type: "again" }>): Promise<SettledStep> {
    const made = this.#remake(exchange, item.id ?? null);
    if (made === null || made.call?.item?.id !== item.id) {
      const result = notRepeatedResult(item, exchange.arguments);
      return { items: await this.#showStep({ type: "settled", exchange, result, first, isNew: true }), asks: false };
    }
    const again = this.#placed(made);
    if (first !== null) again.place.add({ type: "item_started", item: first });
    return await this.#finishAgain(again, exchange.arguments);
  }

  /** Runs a call that the model had decided on before a crash, unless it had begun. */
  async #runPlanned({ call, exchange, turn, isOpen }: PlannedCall): Promise<SettledStep> {
    const { name, arguments: args, itemId } = call;
    const limit = exchange === null ? (call.refusal ?? this.#limitReached()) : null;
    const made = limit === null ? this.#remake({ ...call, approvalRequestId: null, turn }, itemId) : null;
    const item = made?.call?.item ?? null;
    if (exchange !== null && item !== null && (exchange.result !== null || exchange.effect !== "none")) {
      const { result } = exchange;
      const first = isOpen ? null : item;
      const step: ShownStep =
        result === null
          ? interrupted(exchange, item, first)
          : { type: "settled", exchange, result, first, isNew: false };
      return { items: await this.#showStep(step), asks: false };
    }
    const refusal = made === null ? (limit ?? `There is no tool '${name}'.`) : null;
    const planned = this.#placed(made ?? uncalled(call, turn), refusal);
    if (exchange === null && planned.call !== null) this.#calls += 1;
    if (!isOpen) {
      planned.shown.begin();
      planned.shown.add(args);
      planned.shown.end();
    }
    return await this.#inTurn(() => this.#finishAgain(planned, args));
  }

  /** A call from before a crash, under the id of its item; null if its tool is gone. */
  #remake(call: RemadeCall, itemId: string | null): UnplacedCall | null {
    const { set, newItemId } = this.#parts;
    const { name, server, callId, approvalRequestId, turn } = call;
    const placed = set.find(name, server);
    if (placed === null) return null;
    const ids = itemId === null ? [] : [itemId];
    const made = { callId, approvalRequestId, newItemId: (prefix: string) => ids.shift() ?? newItemId(prefix) };
    const called = { name, server, kind: placed.kind };
    return { called, callId, approvalRequestId, turn, call: placed.tool.call(name, made) };
  }

  /** Takes the next place of the line for a call. */
  #placed(made: UnplacedCall, refusal: string | null = null): MadeRun {
    const place = this.#parts.line.take();
    return { ...made, refusal, place, shown: new ShownArguments(made.call, place) };
  }

  async #finishAgain(made: MadeRun, args: string): Promise<SettledStep> {
    const { output, asks } = await this.#guarded(made, args, Promise.resolve(true));
    return { items: [hostedCall(made, args), ...(output === null ? [] : [output])], asks };
  }

  /** Runs an approved call. */
  async runApproved({ kind, server, pending }: PlacedCall): Promise<RunApproval> {
    const { name, callId, arguments: args, approvalRequestId, call } = pending;
    const place = this.#parts.line.take();
    const shown = new ShownArguments(call, place);
    const called = { name, server, kind };
    const made: MadeRun = { called, callId, place, call, shown, refusal: null, approvalRequestId, turn: 0 };
    this.#calls += 1;
    this.#callIds.add([callId]);
    shown.begin();
    shown.add(args);
    const text = shown.end();
    const { output } = await this.#inTurn(() => this.#guarded(made, text, Promise.resolve(true)));
    return { approvalRequestId, call: hostedCall(made, text), output };
  }

  /** At once, or after the previous call if the request forbids parallel calls. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#parts.task.request.parallelToolCalls) return work();
    const done = this.#before.then(work);
    this.#before = done;
    return done;
  }

  #limitReached(): string | null {
    if (this.hasRoom) return null;
    const { services, task } = this.#parts;
    services.observer.limited(this.#callsMax === task.tools.callsMax ? "max_tool_calls" : "calls");
    return `The limit of ${this.#callsMax} tool calls is reached, so this call was not made. Answer with what you have.`;
  }

  /** Runs a call, and closes its place in any case. */
  async #guarded(made: MadeRun, args: string, ended: Promise<boolean>): Promise<CallResult> {
    const { call, refusal } = made;
    try {
      if (call === null) return { output: outputOf(made, refusal ?? ""), asks: false, item: null };
      const called = { name: made.called.name, server: made.called.server, arguments: args };
      const first = this.#equal.take(called, () => this.#started(made, call, args, ended));
      const result = await first.result;
      const shown = first.isNew ? this.#equal.end(called, result) : repeatOf(made, result);
      if (shown !== result) this.#parts.services.observer.limited("repeated");
      return shown;
    } catch (fault) {
      if (!this.#parts.signal.aborted) throw fault;
      return CUT;
    } finally {
      made.place.close();
    }
  }

  async #started(made: MadeRun, call: ToolCall, args: string, ended: Promise<boolean>): Promise<CallResult> {
    // A call with effects waits until the model has finished its turn.
    if (call.effect === "may_have" && !(await ended)) return endUnrun(made);
    const release = await this.#slots.take(this.#parts.signal);
    try {
      return await this.#watched(made, call, args);
    } finally {
      release();
    }
  }

  async #watched(made: MadeRun, call: ToolCall, args: string): Promise<CallResult> {
    const { services, run, task, signal } = this.#parts;
    const trace = task.request.trace ?? null;
    this.#hasRun = true;
    const watch = services.observer.began({ responseId: run.responseId, kind: made.called.kind ?? "mcp", trace });
    let hasBegun = false;
    try {
      if (call.item !== null) await this.#recorder.begin(made, call, call.item.id, args);
      hasBegun = true;
      const outcome = await this.#outcome(made, call, args);
      const result = await this.#recorder.end(made, call, args, outcome);
      if (result.asks) this.#calls -= 1; // It counts when it runs.
      watch.ended(toolCallEnd(outcome));
      return result;
    } catch (fault) {
      const isCut = signal.aborted || fault instanceof RunLost || fault instanceof ApprovalSpent;
      const isUnknown = hasBegun && call.effect === "may_have";
      watch.ended(isCut ? "cut" : isUnknown ? "unknown" : "broken");
      if (fault instanceof ApprovalSpent) throw spentElsewhere(made.approvalRequestId ?? "");
      if (isCut) throw fault;
      run.listener.onFault(fault);
      if (isUnknown) return await this.#recorder.endUnknown(made, call, args);
      const { item } = made.shown;
      if (item !== null) made.place.add({ type: "item_finished", item: brokenForm(item) });
      return { output: outputOf(made, hasBegun ? BROKE : NOT_MADE), asks: false, item: null };
    }
  }

  async #outcome(made: MadeRun, call: ToolCall, args: string): Promise<ToolOutcome> {
    const { signal } = this.#parts;
    const steps = call.run(args, signal);
    for (;;) {
      const next = await steps.next();
      signal.throwIfAborted();
      if (next.done === true) return next.value;
      made.place.add({ type: "item_step", step: next.value });
      await made.place.room();
    }
  }
}

/** A call without the members for its place in the line. */
type UnplacedCall = Omit<MadeRun, "place" | "shown" | "refusal">;
type RemadeCall = Omit<CalledFunction, "kind"> & Pick<MadeRun, "callId" | "approvalRequestId" | "turn">;

/** A call whose tool is gone. */
function uncalled({ name, server, callId }: PlannedCall["call"], turn: number): UnplacedCall {
  return { called: { name, server, kind: null }, callId, approvalRequestId: null, turn, call: null };
}
