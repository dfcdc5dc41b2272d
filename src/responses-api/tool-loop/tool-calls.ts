import type { Tool } from "../../../generated/responses-api/types.ts";
import { randomHex } from "../../base/ids.ts";
import { Semaphore } from "../../base/limits/semaphore.ts";
import { type ContextItem, type HostedCall, type HostedOutput, type ModelEvent, RunLost } from "../../runs/ports.ts";
import type { ToolCall, ToolOutcome, ToolScope, ToolUsage } from "../hosted-tool.ts";
import { exchangeItems } from "../input/with-exchanges.ts";
import { eventsOfStep, itemOfStep, type ResumePoint, type ResumeStep } from "../keeping/resume-point.ts";
import { ApprovalSpent } from "../ports.ts";
import type { CallLine } from "./call-line.ts";
import type { Sources } from "./cite.ts";
import { EqualCalls } from "./equal-calls.ts";
import { cutOutput, fence } from "./fence.ts";
import {
  brokenForm,
  type CallResult,
  CUT,
  callOf,
  endingEvents,
  endOf,
  endUnrun,
  exchangeOf,
  interruptedForm,
  type MadeRun,
  outputKeyOf,
  outputOf,
  repeatOf,
  spentElsewhere,
} from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import { returnsOutsideText } from "./offer-tools.ts";
import type { PlacedCall, ToolSet } from "./open-tools.ts";
import { ShownArguments } from "./shown-arguments.ts";
import { ToolUsageSum } from "./usage/tool-usage.ts";

type CallStarted = Extract<ModelEvent, { type: "call_started" }>;
type Told = Extract<ToolOutcome, { type: "told" }>;

const CALL_ID_DIGITS = 24;

export interface CallParts {
  readonly services: Pick<LoopServices, "tools" | "ledger" | "observer">;
  readonly task: ToolTask;
  readonly run: LoopRun;
  readonly set: ToolSet;
  readonly line: CallLine;
  readonly sources: Sources;
  readonly signal: AbortSignal;
  readonly newItemId: ToolScope["newItemId"];
}

/** A call that the model is writing or has written. */
export interface StartedCall {
  /** Adds a piece of the arguments. */
  add(piece: string): void;
  /** Resolves once a reader has taken what is shown of them, but at once if other calls are in front of this one. */
  read(): Promise<void>;
  /**
   * The arguments are whole, or were cut off. `ended` tells whether the turn has ended well. Returns the call as the
   * model made it; null if it was cut off.
   */
  end(isCut: boolean, ended: Promise<boolean>): HostedCall | null;
  /** How it came out. Call it after `end`. */
  result(): Promise<CallResult>;
}

/** An approved call that has run. */
export interface RunApproval {
  readonly approvalRequestId: string | null;
  readonly call: HostedCall;
  readonly output: HostedOutput | null;
}

/** Runs the calls of one response, several at a time, and shows each at its place in the line. */
export class ToolCalls {
  /** Functions of the client that tool searches have found. */
  readonly found: Tool[] = [];
  readonly #parts: CallParts;
  readonly #slots: Semaphore;
  readonly #toolUsage = new ToolUsageSum();
  readonly #callIds = new Set<string>();
  #calls = 0;
  #usedBefore: readonly ToolUsage[] = [];
  /** The end of the call before, where calls run one after the other. */
  #before: Promise<unknown> = Promise.resolve();
  readonly #equal = new EqualCalls();

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#slots = new Semaphore(parts.services.tools.limits.parallelMax);
    for (const callId of parts.task.request.items.map(outputKeyOf)) if (callId !== null) this.#callIds.add(callId);
  }

  /** Whether the limits leave room for another call. */
  get hasRoom(): boolean {
    return this.#calls < this.#callsMax;
  }

  get #callsMax(): number {
    const { task, services } = this.#parts;
    return Math.min(task.tools.callsMax ?? Number.POSITIVE_INFINITY, services.tools.limits.callsMax);
  }

  /** The model begins to write a call in this turn, counted from 1. */
  start(event: CallStarted, turn: number): StartedCall {
    const { set, line, newItemId, run } = this.#parts;
    const server = event.namespace ?? null;
    const placed = set.find(event.name, server);
    const refusal = placed === null ? `There is no tool '${event.name}'.` : this.#limitReached();
    const callId = this.#freeCallId(event.callId);
    const call = refusal === null ? (placed?.tool.call(event.name, { callId, newItemId }) ?? null) : null;
    if (call !== null) this.#calls += 1;
    const kind = placed?.kind ?? null;
    const place = line.take();
    const shown = new ShownArguments(call, place);
    const made = { kind, name: event.name, server, callId, place, call, shown, refusal, approvalRequestId: null, turn };
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
        return callOf(made, text);
      },
      result: () => done,
    };
  }

  /** Continues the counts of a run that a crash interrupted. */
  goOnAt({ calls, found, items, output, steps, used }: ResumePoint): void {
    this.#calls = calls;
    this.#usedBefore = used.tools;
    this.found.push(...found);
    const shown = [...items, ...output, ...steps.flatMap(itemOfStep)];
    for (const callId of shown.map(outputKeyOf)) if (callId !== null) this.#callIds.add(callId);
    for (const step of steps) if ("exchange" in step) this.#callIds.add(step.exchange.callId);
  }

  /** Tells what tools had used before a crash, if they had used anything. */
  showUsedBefore(): void {
    const place = this.#parts.line.take();
    const told = this.#usedBefore.map((used) => this.#toolUsage.add(used)).at(-1);
    if (told !== undefined) place.add(told);
    place.close();
  }

  /** Ends a call that had begun before a crash. Returns what the model is shown of it. */
  async settle(step: ResumeStep): Promise<readonly ContextItem[]> {
    if (step.type === "again") return await this.#runAgain(step);
    const { services, run, line } = this.#parts;
    const isNew = step.type === "settled" && step.isNew;
    if (isNew) await services.ledger?.finish(run.owner, run.responseId, step.result);
    const place = line.take();
    place.add(...eventsOfStep(step));
    place.close();
    return step.type === "settled" ? exchangeItems({ ...step.exchange, result: step.result }) : [];
  }

  /** Runs a call without effects again. */
  async #runAgain({ exchange, item, first }: Extract<ResumeStep, { type: "again" }>): Promise<readonly ContextItem[]> {
    const { set, line, newItemId } = this.#parts;
    const { itemId, name, server, callId, arguments: args, approvalRequestId, turn } = exchange;
    const placed = set.find(name, server);
    const ids = [item.id ?? ""];
    const made = { callId, approvalRequestId, newItemId: (prefix: string) => ids.shift() ?? newItemId(prefix) };
    const call = placed?.tool.call(name, made) ?? null;
    if (placed === null || call?.item?.id !== item.id) {
      const last = interruptedForm(item, args);
      const result = { itemId, item: last, output: NOT_REPEATED, parts: [], usage: null };
      return await this.settle({ type: "settled", exchange, result, first, isNew: true });
    }
    const place = line.take();
    const shown = new ShownArguments(call, place);
    const again: MadeRun = {
      kind: placed.kind,
      refusal: null,
      name,
      server,
      callId,
      approvalRequestId,
      turn,
      call,
      place,
      shown,
    };
    if (first !== null) again.place.add({ type: "item_started", item: first });
    const { output } = await this.#guarded(again, args, Promise.resolve(true));
    return [callOf(again, args), ...(output === null ? [] : [output])];
  }

  /** Runs a call that was approved. */
  async runApproved({ kind, server, pending }: PlacedCall): Promise<RunApproval> {
    const { name, callId, arguments: args, approvalRequestId, call } = pending;
    const place = this.#parts.line.take();
    const shown = new ShownArguments(call, place);
    const made: MadeRun = { kind, name, server, callId, place, call, shown, refusal: null, approvalRequestId, turn: 0 };
    this.#calls += 1;
    this.#callIds.add(callId);
    shown.begin();
    shown.add(args);
    const text = shown.end();
    const { output } = await this.#inTurn(() => this.#guarded(made, text, Promise.resolve(true)));
    return { approvalRequestId, call: callOf(made, text), output };
  }

  /** At once, or after the call before if the request wants no calls side by side. */
  #inTurn(work: () => Promise<CallResult>): Promise<CallResult> {
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
      const { name, server } = made;
      const first = this.#equal.take({ name, server, arguments: args }, () => this.#started(made, call, args, ended));
      if (first.isNew) return await first.result;
      this.#parts.services.observer.limited("repeated");
      return repeatOf(made, await first.result);
    } catch (fault) {
      if (!this.#parts.signal.aborted) throw fault;
      return CUT;
    } finally {
      made.place.close();
    }
  }

  async #started(made: MadeRun, call: ToolCall, args: string, ended: Promise<boolean>): Promise<CallResult> {
    // A call with effects waits until the model has said all it wanted to say.
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
    const watch = services.observer.began({ responseId: run.responseId, kind: made.kind ?? "mcp", trace });
    try {
      if (call.item !== null) await this.#begin(made, call, call.item.id, args);
      const outcome = await this.#outcome(made, call, args);
      const result = await this.#concluded(made, call, args, outcome);
      watch.ended(endOf(outcome));
      return result;
    } catch (fault) {
      const isCut = signal.aborted || fault instanceof RunLost || fault instanceof ApprovalSpent;
      watch.ended(isCut ? "cut" : "broken");
      if (fault instanceof ApprovalSpent) throw spentElsewhere(made.approvalRequestId ?? "");
      if (isCut) throw fault;
      run.onFault(fault);
      const { item } = made.shown;
      if (item !== null) made.place.add({ type: "item_finished", item: brokenForm(item) });
      return { output: outputOf(made, "The tool broke. How far it came is unknown."), asks: false, item: null };
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

  /** Keeps the result, shows the end of the item, and returns what the model is shown. */
  async #concluded(made: MadeRun, call: ToolCall, args: string, outcome: ToolOutcome): Promise<CallResult> {
    const { place } = made;
    const { services, run, sources } = this.#parts;
    if (outcome.type === "asks") {
      this.#calls -= 1; // It counts when it runs.
      place.add(...endingEvents(made, outcome));
      return { output: null, asks: true, item: outcome.item };
    }
    const text = cutOutput(outcome.output, services.tools.limits.outputCharactersMax);
    if (outcome.type === "told") return await this.#told(made, call, args, { ...outcome, output: text });
    const { item, parts, following = [], found = [], usage = null } = outcome;
    const shown = returnsOutsideText(made.kind) ? fence(made.server ?? made.name, text) : text;
    const output = outputOf(made, shown, parts);
    if (call.item === null) await this.#begin(made, call, item.id, args);
    const kept = { itemId: item.id, item, output: shown, parts, usage, following: following.map(({ last }) => last) };
    await services.ledger?.finish(run.owner, run.responseId, kept);
    run.onExchange({ ...exchangeOf(made, call, item.id, args), result: kept });
    sources.add(outcome.sources);
    this.found.push(...found);
    place.add(...endingEvents(made, outcome));
    if (usage !== null) place.add(this.#toolUsage.add(usage));
    return { output, asks: false, item };
  }

  /** The arguments were wrong. If the item had begun, later turns show the model what it is told now. */
  async #told(made: MadeRun, call: ToolCall, args: string, outcome: Told): Promise<CallResult> {
    const { services, run } = this.#parts;
    const { item } = made.shown;
    const { output } = outcome;
    if (item !== null) {
      const kept = { itemId: item.id, item: brokenForm(item), output, parts: [], usage: null };
      if (call.item === null) await this.#begin(made, call, item.id, args);
      await services.ledger?.finish(run.owner, run.responseId, kept);
      run.onExchange({ ...exchangeOf(made, call, item.id, args), result: kept });
    }
    made.place.add(...endingEvents(made, outcome));
    return { output: outputOf(made, output), asks: false, item: null };
  }

  async #begin(made: MadeRun, call: ToolCall, itemId: string, args: string): Promise<void> {
    const { services, run } = this.#parts;
    const stored = call.effect === "none" ? null : run.storeNow();
    if (made.approvalRequestId !== null) await stored; // A run that cannot be stored spends no approval.
    await Promise.all([
      stored,
      services.ledger?.begin(run.owner, run.responseId, exchangeOf(made, call, itemId, args)),
    ]);
  }

  /** Model servers may count their ids anew in each turn. */
  #freeCallId(given: string | null): string {
    const isFree = given !== null && given !== "" && !this.#callIds.has(given);
    const callId = isFree ? given : `call_${randomHex(CALL_ID_DIGITS)}`;
    this.#callIds.add(callId);
    return callId;
  }
}

const NOT_REPEATED = "The call was interrupted, and was not repeated.";
