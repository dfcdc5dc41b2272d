import { waitAtMost } from "../../base/limits/wait-at-most.ts";
import {
  type ContextItem,
  type HostedOutput,
  type ModelEvent,
  type ModelRequest,
  type OfferedTool,
} from "../../runs/ports.ts";
import { ToolNotOpened, type ToolScope } from "../hosted-tool.ts";
import { itemIds, itemOfStep, type ResumePoint, resumedAt } from "../keeping/resume-point.ts";
import { fitTurn } from "../window/fit-to-window.ts";
import { approvedCalls, isApproval } from "./approvals.ts";
import { CallLine } from "./call-line.ts";
import { Sources } from "./cite.ts";
import { failingTurn, labelOf, wholeItem } from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import { deferredTools, offerTools, withNotes } from "./offer-tools.ts";
import { openTools, type ToolSet } from "./open-tools.ts";
import { type StartedCall, ToolCalls } from "./tool-calls.ts";
import { withoutOpenCalls } from "./turn-items.ts";
import { newTurn, type TurnFinish, type TurnState } from "./turn-state.ts";
import { LoopUsage } from "./usage/loop-usage.ts";

type Batch = readonly ModelEvent[];
type Turn = AsyncIterable<Batch>;
/** How a turn came out: the model is asked again, or the response ends; null if the run ends without a finish. */
type TurnEnd = "again" | TurnFinish | null;

export interface ToolTurns {
  /** The events of all turns and of the tools between them, in the order in which they are shown. */
  readonly events: Turn;
  /** What the answer may cite. Grows while it is made. */
  readonly sources: Sources;
  /**
   * What the model was offered last, with the context as it has seen it by now. Calls that the client has to answer are
   * left out.
   */
  readonly seen: () => ModelRequest;
}

/** A turn with fewer tokens left is not asked for. */
const OUTPUT_TOKENS_MIN = 16;
/** How long the end of a response waits for its tools to be closed, in milliseconds. */
const CLOSE_WAIT_MS = 1000;
/** Stops what is left. Made once: each error costs a stack trace. */
const OVER = new Error("the response has ended");

/**
 * Asks the model, runs the calls of this server's tools that it makes, shows it the results and asks again, until it
 * makes no more. Resolves once all tools are open and the model has accepted the first turn; rejects with `ModelError`
 * if one of them refused. Leaving the iteration or aborting stops all work.
 */
export async function runTools(services: LoopServices, task: ToolTask, run: LoopRun): Promise<ToolTurns> {
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const point = await resumedAt(services, run);
  const newItemId = itemIds(task, point?.idsUsed ?? 0);
  const scope = {
    owner: run.owner,
    abilities: services.engine.abilities,
    responseId: run.responseId,
    signal,
    newItemId,
  };
  const { include } = task.tools;
  const context = [...task.tools.context, ...(point?.output ?? []), ...(point?.steps.flatMap(itemOfStep) ?? [])];
  const citedBefore = point?.citedBefore ?? 0;
  const approvals = approvedCalls(task.tools.context).filter(({ requestId }) => point?.spent.has(requestId) !== true);
  const deferred = deferredTools(task.request.tools, task.tools);
  let set: ToolSet;
  try {
    set = await openTools(services.tools, task.tools.hosted, {
      ...scope,
      include,
      context,
      citedBefore,
      approvals,
      deferred,
    });
  } catch (error) {
    if (!run.isBackground || !(error instanceof ToolNotOpened)) throw error;
    return { events: failingTurn(error), sources: new Sources(), seen: () => task.request };
  }
  run.signal.addEventListener("abort", () => void set.close(), { once: true }); // Also if nobody reads the events.
  const loop = new ToolLoop(services, { task, run, set, deferred, signal, newItemId });
  try {
    if (point !== null) await loop.goOnAt(point);
    const isBusy = set.pending.length > 0 || (point?.steps.length ?? 0) > 0;
    const first = isBusy ? null : await loop.ask();
    return { events: loop.events(first, () => stop.abort(OVER)), sources: loop.sources, seen: () => loop.seen() };
  } catch (error) {
    stop.abort(OVER);
    await set.close();
    throw error;
  }
}

interface LoopParts {
  readonly task: ToolTask;
  readonly run: LoopRun;
  readonly set: ToolSet;
  /** Tools of the client that a search has to find first. */
  readonly deferred: readonly OfferedTool[];
  readonly signal: AbortSignal;
  readonly newItemId: ToolScope["newItemId"];
}

class ToolLoop {
  readonly sources = new Sources();
  readonly #services: LoopServices;
  readonly #parts: LoopParts;
  readonly #line = new CallLine();
  readonly #calls: ToolCalls;
  readonly #usage: LoopUsage;
  /** The client's tools that no search has to find first. */
  readonly #clientTools: readonly OfferedTool[];
  #items: readonly ContextItem[];
  #asked: ModelRequest;
  #turns = 0;
  #resumed: ResumePoint | null = null;

  constructor(services: LoopServices, parts: LoopParts) {
    this.#services = services;
    this.#parts = parts;
    this.#calls = new ToolCalls({ ...parts, services, line: this.#line, sources: this.sources });
    this.sources.add(parts.set.sources);
    this.#usage = new LoopUsage(services, parts);
    this.#asked = parts.task.request;
    this.#items = this.#asked.items;
    const { tools } = parts.task.request;
    const deferred = new Set(parts.deferred);
    this.#clientTools = deferred.size === 0 ? tools : tools.filter((tool) => !deferred.has(tool));
  }

  /** Continues after a crash. */
  async goOnAt(point: ResumePoint): Promise<void> {
    this.#resumed = point;
    this.#turns = point.turns;
    this.#calls.goOnAt(point);
    this.#items = [...this.#items.filter((item) => !isApproval(item, point.spent)), ...point.items];
    await this.#usage.goOnAt(point.used, this.#items);
  }

  /** All events. `first` is the first turn, if the model was asked for it already. `stop` stops all work. */
  async *events(first: Turn | null, stop: () => void): AsyncGenerator<Batch, void> {
    const work = this.#work(first).then(
      () => this.#line.end(),
      (fault: unknown) => this.#line.fail(fault),
    );
    try {
      yield* this.#line.read();
    } finally {
      stop();
      this.#line.leave();
      this.#services.observer.ended(this.#turns);
      await waitAtMost(CLOSE_WAIT_MS, Promise.all([work, this.#parts.set.close()]));
    }
  }

  /** Asks the model for the next turn; null if no tokens are left for it. */
  async ask(): Promise<Turn | null> {
    const { engine } = this.#services;
    const { task, signal } = this.#parts;
    const request = this.#nextRequest();
    if (request === null) return null;
    const fitting = task.tools.fitsWindow ? await fitTurn(engine, request, signal) : request;
    this.#turns += 1;
    this.#asked = request;
    return await engine.sample(fitting, signal);
  }

  seen(): ModelRequest {
    return { ...this.#asked, items: withoutOpenCalls(this.#items) };
  }

  async #work(first: Turn | null): Promise<void> {
    for (const step of this.#resumed?.steps ?? []) this.#items = [...this.#items, ...(await this.#calls.settle(step))];
    this.#calls.showUsedBefore();
    this.#showOpening();
    if (first === null) await this.#runApproved();
    for (let turn = first ?? (await this.ask()); ; turn = await this.ask()) {
      const end = turn === null ? this.#outOfTokens() : await this.#read(turn);
      if (end === null) return;
      if (end !== "again") return this.#finish(end);
      this.#endMessage();
    }
  }

  #showOpening(): void {
    const place = this.#line.take();
    const shown = this.#resumed?.lists.map(labelOf) ?? [];
    for (const { first, last } of this.#parts.set.opening)
      if (!shown.includes(labelOf(last) ?? "")) place.add(...wholeItem(first, last));
    place.close();
  }

  /** What the next turn says is another message. */
  #endMessage(): void {
    const place = this.#line.take();
    place.add({ type: "message_finished" });
    place.close();
  }

  #outOfTokens(): "length" {
    this.#services.observer.limited("output_tokens");
    return "length";
  }

  #finish(reason: TurnFinish): void {
    const place = this.#line.take();
    const { total, last } = this.#usage;
    const contextTokens = last.inputTokens + last.outputTokens;
    place.add({ type: "usage", usage: total, contextTokens }, { type: "finished", reason });
    place.close();
  }

  #nextRequest(): ModelRequest | null {
    const { task, set } = this.#parts;
    const { request, tools } = task;
    const left = request.maxOutputTokens === null ? null : request.maxOutputTokens - this.#usage.total.outputTokens;
    if (left !== null && left < OUTPUT_TOKENS_MIN && this.#turns > 0) return null;
    const { functions, notes } = set;
    const { found } = this.#calls;
    const { deferred } = this.#parts;
    const offer = { functions, deferred, found, isFirst: this.#turns === 0, mayCall: this.#mayCall() };
    return {
      ...request,
      ...offerTools({ ...request, tools: this.#clientTools }, offer),
      instructions: withNotes(request, tools.hosted, notes),
      items: this.#items,
      maxOutputTokens: left,
    };
  }

  /** Whether tools of this server may be called in the next turn. In the last one the model may only speak. */
  #mayCall(): boolean {
    const isLast = this.#turns + 1 >= this.#services.tools.limits.turnsMax;
    if (isLast) this.#services.observer.limited("turns");
    return !isLast && this.#calls.hasRoom;
  }

  async #read(turn: Turn): Promise<TurnEnd> {
    const state = newTurn();
    const { signal } = this.#parts;
    let kept: Promise<void> | null = null;
    try {
      for await (const batch of turn) {
        for (const event of batch) this.#hear(state, event);
        await (state.writing ?? state.place)?.read();
        if (signal.aborted) return null;
      }
      kept = state.finish === null ? null : this.#count(state); // Before calls with effects begin.
      kept?.catch(() => {}); // It is waited for below, unless the run is over.
    } finally {
      state.place?.close();
      state.ended.resolve(state.finish === "stop");
    }
    if (state.finish === null || signal.aborted) return null;
    const [results] = await Promise.all([Promise.all(state.calls.map((call) => call.result())), kept]);
    if (signal.aborted) return null;
    const outputs: HostedOutput[] = results.flatMap(({ output }) => (output === null ? [] : [output]));
    this.#items = [...this.#items, ...state.items.take(), ...outputs];
    return this.#afterTurn(
      state,
      state.finish,
      results.some(({ asks }) => asks),
    );
  }

  async #count({ usage, items, calls }: TurnState): Promise<void> {
    const turn = { number: this.#turns, usage, characters: items.characters, hasCalls: calls.length > 0 };
    await this.#usage.add(turn, this.#items);
  }

  #afterTurn(state: TurnState, finish: TurnFinish, isAsking: boolean): TurnEnd {
    if (finish !== "stop") return finish;
    const isLast = this.#turns >= this.#services.tools.limits.turnsMax;
    return state.calls.length === 0 || state.asksClient || isAsking || isLast ? "stop" : "again";
  }

  #hear(state: TurnState, event: ModelEvent): void {
    switch (event.type) {
      case "usage":
        state.usage = event.usage;
        return;
      case "finished":
        state.finish = event.reason;
        return;
      case "call_started":
        if (event.kind === "hosted") return this.#beginCall(state, event);
        state.asksClient = true;
        return this.#say(state, event);
      case "tool_search":
        state.asksClient = true;
        return this.#say(state, event);
      case "call_delta":
        return state.writing === null ? this.#say(state, event) : state.writing.add(event.text);
      case "call_finished":
        return state.writing === null ? this.#say(state, event) : this.#endCall(state, state.writing, event.isCut);
      default:
        this.#say(state, event);
    }
  }

  #say(state: TurnState, event: ModelEvent): void {
    state.items.add(event);
    state.place ??= this.#line.take();
    state.place.add(event);
  }

  #beginCall(state: TurnState, event: Extract<ModelEvent, { type: "call_started" }>): void {
    state.place?.close();
    state.place = null;
    state.writing = this.#calls.start(event, this.#turns);
    state.calls.push(state.writing);
  }

  #endCall(state: TurnState, call: StartedCall, isCut = false): void {
    state.writing = null;
    const made = call.end(isCut, state.ended.promise);
    if (made !== null) state.items.addCall(made);
  }

  /** Runs the calls that were approved, before the model is asked. They take the place of their approvals. */
  async #runApproved(): Promise<void> {
    const runs = await Promise.all(this.#parts.set.pending.map((placed) => this.#calls.runApproved(placed)));
    const spent = new Set(runs.flatMap(({ approvalRequestId }) => approvalRequestId ?? []));
    this.#items = [
      ...this.#items.filter((item) => !isApproval(item, spent)),
      ...runs.map(({ call }) => call),
      ...runs.flatMap(({ output }) => output ?? []),
    ];
  }
}
