import type { Tool } from "@antiphon/contracts/responses-api/types.ts";
import {
  mayChangeWorld,
  mayRunAgain,
  type ToolCall,
  type ToolScope,
  type ToolUsage,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { KnownExchange } from "@antiphon/domain/tool-ledger.ts";
import { exchangeItems } from "../input/with-exchanges.ts";
import type { CallLine } from "./call-line.ts";
import { CallRunner } from "./call-runner.ts";
import type { Sources } from "./citations/sources.ts";
import { EqualCalls } from "./equal-calls.ts";
import {
  type CalledFunction,
  type CallResult,
  CUT,
  calledFunction,
  endUnrun,
  FreeCallIds,
  hostedCall,
  isClientsTurn,
  type MadeRun,
  notRepeatedResult,
  outputKeyOf,
  outputOf,
  repeatOf,
  unknownResult,
} from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import type { PlacedCall, ToolSet } from "./open-tools.ts";
import { CallRecorder } from "./recording/call-recorder.ts";
import { hostedResults } from "./results/hosted-results.ts";
import type { ResumePoint } from "./resume/resume-point.ts";
import {
  callIdOfStep,
  eventsOfStep,
  firstFormOf,
  followingOf,
  interruptedStep,
  itemOfStep,
  type PlannedCall,
  type ResumeStep,
  type ShownStep,
} from "./resume/resume-steps.ts";
import { ShownArguments } from "./shown-arguments.ts";
import type { RunApproval, SettledStep, StartedCall } from "./started-call.ts";
import { ToolUsageSum } from "./usage/tool-usage.ts";

type CallStarted = Extract<ModelEvent, { type: "call_started" }>;

const PROGRAM_FIRST = "This turn has begun a program. Make this call once the program has ended.";

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
  readonly foundTools: Tool[] = [];
  readonly #parts: CallParts;
  readonly #toolUsage = new ToolUsageSum();
  readonly #callIds = new FreeCallIds();
  #calls = 0;
  /** The latest turn of the model that has begun a program. */
  #programTurn = 0;
  #usedBefore: readonly ToolUsage[] = [];
  /** The end of the previous call, if calls run one after the other. */
  #before: Promise<unknown> = Promise.resolve();
  readonly #equal = new EqualCalls();
  readonly #recorder: CallRecorder;
  readonly #runner: CallRunner;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#recorder = new CallRecorder({ ...parts, foundTools: this.foundTools, toolUsage: this.#toolUsage });
    this.#runner = new CallRunner(parts, this.#recorder);
    this.#callIds.add(parts.task.request.items.map(outputKeyOf));
  }

  /** Whether the limits allow another call. */
  get hasRoom(): boolean {
    return this.left > 0;
  }

  /** Whether the function is not run any more, because its calls had no new results. */
  isOver(definition: Pick<HostedFunction, "name" | "server">): boolean {
    return this.#equal.refusal(definition) !== null;
  }

  /** Whether a call has run, so that the response consists of more than the model's text. */
  get hasRun(): boolean {
    return this.#runner.hasRun;
  }

  /** How many calls the limits still allow. */
  get left(): number {
    return Math.max(0, this.#callsMax - this.#calls);
  }

  get #callsMax(): number {
    const { task, services } = this.#parts;
    return Math.min(task.tools.callsMax ?? Number.POSITIVE_INFINITY, services.tools.limits.callsMax);
  }

  /** The model starts to write a call in this turn, counted from 1. */
  start(event: CallStarted, turn: number): StartedCall {
    const { set, line, newItemId, run } = this.#parts;
    const server = event.namespace ?? null;
    const entry = set.find(event.name, server);
    const isByProgram = event.callerId !== undefined;
    const over = isByProgram ? null : this.#equal.refusal({ name: event.name, server });
    const held = !isByProgram && this.#programTurn === turn ? PROGRAM_FIRST : null;
    const refusal = entry === null ? `There is no tool '${event.name}'.` : (over ?? held ?? this.#limitReached());
    const callId = this.#callIds.take(event.callId);
    const call = refusal === null ? (entry?.tool.call(event.name, { callId, newItemId, isByProgram }) ?? null) : null;
    if (call !== null) this.#calls += 1;
    if (call !== null && entry?.kind === "programmatic_tool_calling") this.#programTurn = turn;
    const called = calledFunction({ name: event.name, server }, entry, isByProgram);
    const place = line.take();
    const view = new ShownArguments(call, place);
    const job = { called, callId, place, call, view, refusal, approvalRequestId: null, turn };
    view.begin();
    let completion: Promise<CallResult> = Promise.resolve(CUT);
    return {
      add: (piece) => view.add(piece),
      read: () => view.read(),
      end: (isCut, end) => {
        if (isCut) endUnrun(job);
        if (isCut) return null;
        const text = view.end();
        completion = this.#inTurn(() => this.#guardRun(job, text, end));
        // Nobody waits for it before the turn has ended.
        completion.catch((fault: unknown) => (run.signal.aborted ? undefined : line.fail(fault)));
        return hostedCall(job, text);
      },
      result: () => completion,
      itemId: call?.item?.id ?? null,
      refusal,
      isOver: over !== null,
    };
  }

  /** Continues the counts of a run that a crash interrupted. */
  goOnAt({ calls, foundTools, items, output, steps, usage }: ResumePoint): void {
    this.#calls = calls;
    if (calls > 0) this.#runner.goOn();
    this.#usedBefore = usage.tools;
    for (const { call, item } of hostedResults(items)) if (call !== null) this.#equal.learn(call, item);
    this.foundTools.push(...foundTools);
    this.#callIds.add([...items, ...output, ...steps.flatMap(itemOfStep)].map(outputKeyOf));
    this.#callIds.add(steps.map(callIdOfStep));
  }

  /** Reports the tools' usage before a crash, if there was any. */
  showUsedBefore(): void {
    const place = this.#parts.line.take();
    const usageEvent = this.#usedBefore.map((usage) => this.#toolUsage.add(usage)).at(-1);
    if (usageEvent !== undefined) place.add(usageEvent);
    place.close();
  }

  /** Does a remaining step after a crash. The steps are shown in the order of the calls of this method. */
  async settle(step: ResumeStep): Promise<SettledStep> {
    if (step.type === "again") return await this.#runAgain(step);
    if (step.type === "planned") return await this.#runPlanned(step);
    const item = step.type === "settled" ? step.result.item : null;
    return { items: await this.#showStep(step), asks: followingOf(step).some(isClientsTurn), item };
  }

  async #showStep(plannedStep: ShownStep): Promise<readonly ContextItem[]> {
    const place = this.#parts.line.take();
    const step = plannedStep.type === "settled" ? await this.#withRemains(plannedStep) : plannedStep;
    if (step.type === "settled" && step.isNew) await this.#recorder.settle(step.exchange, step.result);
    place.add(...eventsOfStep(step));
    place.close();
    if (step.type === "said") return step.items;
    return step.type === "settled" ? exchangeItems({ ...step.exchange, result: step.result }) : [];
  }

  /** Tells the model what an interrupted call left. */
  async #withRemains(step: Extract<ShownStep, { type: "settled" }>): Promise<typeof step> {
    const { exchange, result, isNew } = step;
    if (!isNew) return step;
    const remains = await this.#parts.set.find(exchange.name, exchange.server)?.tool.describeRemains?.(result.item);
    return remains === undefined ? step : { ...step, result: { ...result, output: `${result.output} ${remains}` } };
  }

  /** Runs a call without effects again. */
  async #runAgain({ exchange, item, first }: Extract<ResumeStep, { type: "again" }>): Promise<SettledStep> {
    const job = this.#remake(exchange, item.id ?? null);
    const call = job?.call ?? null;
    if (job === null || call?.item?.id !== item.id || !this.#mayRepeat(exchange, call)) {
      const end = mayChangeWorld(exchange.effect) ? unknownResult : notRepeatedResult;
      const result = end(item, exchange.arguments);
      const items = await this.#showStep({ type: "settled", exchange, result, first, isNew: true });
      return { items, asks: false, item: result.item };
    }
    this.#recorder.remember(exchange);
    const again = this.#placeRun(job);
    if (first !== null) again.place.add({ type: "item_started", item: first });
    return await this.#finishAgain(again, exchange.arguments);
  }

  /** Runs a call that the model had decided on before a crash, unless it had begun. */
  async #runPlanned({ call, exchange, turn, isOpen }: PlannedCall): Promise<SettledStep> {
    const { name, arguments: args, itemId } = call;
    const limit = exchange === null ? (call.refusal ?? this.#limitReached()) : null;
    const job = limit === null ? this.#remake({ ...call, approvalRequestId: null, turn }, itemId) : null;
    const step = exchange === null ? null : this.#stepOfBegun(exchange, job?.call ?? null, isOpen);
    if (step !== null) {
      const shownItem = step.type === "settled" ? step.result.item : null;
      return { items: await this.#showStep(step), asks: followingOf(step).some(isClientsTurn), item: shownItem };
    }
    if (exchange !== null) this.#recorder.remember(exchange);
    const refusal = job === null ? (limit ?? `There is no tool '${name}'.`) : null;
    const plannedRun = this.#placeRun(job ?? uncalled(call, turn), refusal);
    if (exchange === null && plannedRun.call !== null) this.#calls += 1;
    if (!isOpen) {
      plannedRun.view.begin();
      plannedRun.view.add(args);
      plannedRun.view.end();
    }
    return await this.#inTurn(() => this.#finishAgain(plannedRun, args));
  }

  /** The end of a call that had begun before a crash; null if it runs again. `call`: null if its tool is gone. */
  #stepOfBegun(exchange: KnownExchange, call: ToolCall | null, isOpen: boolean): ShownStep | null {
    const { result } = exchange;
    if (result === null && this.#mayRepeat(exchange, call)) return null;
    const item = call?.item ?? firstFormOf(exchange);
    if (item === null) return null;
    const first = isOpen ? null : item;
    return result === null
      ? interruptedStep(exchange, item, first)
      : { type: "settled", exchange, result, first, isNew: false };
  }

  /** Whether a call that a crash interrupted may run again: its tool still says so, and the limit of attempts. */
  #mayRepeat({ effect, attempts }: KnownExchange, call: ToolCall | null): boolean {
    if (effect === "none") return call === null || mayRunAgain(call.effect);
    const { attemptsMax } = this.#parts.services.tools.limits;
    return effect === "idempotent" && call !== null && mayRunAgain(call.effect) && attempts.length < attemptsMax;
  }

  /** A call from before a crash, under the id of its item; null if its tool is gone. */
  #remake(call: RemadeCall, itemId: string | null): UnplacedCall | null {
    const { set, newItemId } = this.#parts;
    const { name, server, callId, approvalRequestId, turn } = call;
    const entry = set.find(name, server);
    if (entry === null) return null;
    const ids = itemId === null ? [] : [itemId];
    const origin = { callId, approvalRequestId, newItemId: (prefix: string) => ids.shift() ?? newItemId(prefix) };
    const called = calledFunction({ name, server }, entry);
    return { called, callId, approvalRequestId, turn, call: entry.tool.call(name, origin) };
  }

  /** Takes the next place of the line for a call. */
  #placeRun(job: UnplacedCall, refusal: string | null = null): MadeRun {
    const place = this.#parts.line.take();
    return { ...job, refusal, place, view: new ShownArguments(job.call, place) };
  }

  async #finishAgain(job: MadeRun, args: string): Promise<SettledStep> {
    const { output, asks, item } = await this.#guardRun(job, args, Promise.resolve(true));
    return { items: [hostedCall(job, args), ...(output === null ? [] : [output])], asks, item };
  }

  /** Runs an approved call. */
  async runApproved({ kind, server, pending }: PlacedCall): Promise<RunApproval> {
    const { name, callId, arguments: args, approvalRequestId, call } = pending;
    const place = this.#parts.line.take();
    const view = new ShownArguments(call, place);
    const called = calledFunction({ name, server }, { kind });
    const job: MadeRun = { called, callId, place, call, view, refusal: null, approvalRequestId, turn: 0 };
    this.#calls += 1;
    this.#callIds.add([callId]);
    view.begin();
    view.add(args);
    const text = view.end();
    const { output, asks, item } = await this.#inTurn(() => this.#guardRun(job, text, Promise.resolve(true)));
    return { approvalRequestId, call: hostedCall(job, text), output, asks, item };
  }

  /** At once, or after the previous call if the request forbids parallel calls. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#parts.task.request.parallelToolCalls) return work();
    const result = this.#before.then(work);
    this.#before = result;
    return result;
  }

  #limitReached(): string | null {
    if (this.hasRoom) return null;
    const { services, task } = this.#parts;
    services.observer.noteLimit(this.#callsMax === task.tools.callsMax ? "max_tool_calls" : "calls");
    return `The limit of ${this.#callsMax} tool calls is reached, so this call was not made. Answer with what you have.`;
  }

  /** Runs a call, and closes its place in any case. */
  async #guardRun(job: MadeRun, args: string, end: Promise<boolean>): Promise<CallResult> {
    const { call, refusal } = job;
    try {
      if (call === null) return { output: outputOf(job, refusal ?? ""), asks: false, item: null };
      if (!job.called.isCounted) return await this.#startRun(job, call, args, end);
      const toolCall = { name: job.called.name, server: job.called.server, arguments: args };
      const first = this.#equal.take(toolCall, () => this.#startRun(job, call, args, end));
      const result = await first.result;
      const shownResult = first.isNew ? this.#equal.end(toolCall, result) : repeatOf(job, result);
      if (shownResult !== result) this.#parts.services.observer.noteLimit("repeated");
      return shownResult;
    } catch (fault) {
      if (!this.#parts.signal.aborted) throw fault;
      return CUT;
    } finally {
      job.place.close();
    }
  }

  async #startRun(job: MadeRun, call: ToolCall, args: string, end: Promise<boolean>): Promise<CallResult> {
    const result = await this.#runner.run(job, call, args, end);
    if (result.asks) this.#calls -= 1; // It counts when it runs.
    return result;
  }
}

/** A call without the members for its place in the line. */
type UnplacedCall = Omit<MadeRun, "place" | "view" | "refusal">;
type RemadeCall = Omit<CalledFunction, "kind" | "isCounted"> & Pick<MadeRun, "callId" | "approvalRequestId" | "turn">;

/** A call whose tool is gone. */
function uncalled({ name, server, callId }: PlannedCall["call"], turn: number): UnplacedCall {
  const called = calledFunction({ name, server }, null);
  return { called, callId, approvalRequestId: null, turn, call: null };
}
