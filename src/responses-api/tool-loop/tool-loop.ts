import { waitAtMost } from "@antiphon/base/limits/wait-at-most.ts";
import type { ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem, ModelRequest, OfferedTool } from "@antiphon/domain/models/model-request.ts";
import type { TurnFinish } from "@antiphon/domain/tool-ledger.ts";
import { RunPaused } from "../../runs/ports/store-faults.ts";
import { isApproval } from "./approvals.ts";
import { ModelTurns } from "./attempts/model-turns.ts";
import { CallLine } from "./call-line.ts";
import { Sources } from "./citations/sources.ts";
import { labelOf, wholeItem } from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import { foundClientTools, guideNotes, offerTools, withNotes } from "./offer-tools.ts";
import type { ToolSet } from "./open-tools.ts";
import { ProgramTurns } from "./programs/program-turns.ts";
import { fitRefused, fitTurn } from "./results/fit-request.ts";
import type { ResumePoint } from "./resume/resume-point.ts";
import { ToolCalls } from "./tool-calls.ts";
import type { OpenPart } from "./turn/open-text.ts";
import { TurnIntake } from "./turn/turn-intake.ts";
import { withoutOpenCalls } from "./turn/turn-items.ts";
import { newTurn, type TurnState } from "./turn/turn-state.ts";
import { TurnTally } from "./turn/turn-tally.ts";
import { LoopUsage, type TurnOnRecord } from "./usage/loop-usage.ts";

type Batch = readonly ModelEvent[];
type Turn = AsyncIterable<Batch>;
/** How a turn ended: the model is called again, or the response ends; null if the run ends without a finish. */
type TurnEnd = "again" | "broke off" | TurnFinish | null;

/** A turn with fewer tokens left is not requested. */
const OUTPUT_TOKENS_MIN = 16;
/** How long the end of a response waits for its tools to close, in milliseconds. */
const CLOSE_WAIT_MS = 1000;

export interface LoopParts {
  readonly task: ToolTask;
  readonly run: LoopRun;
  readonly set: ToolSet;
  /** The number of functions of the set that a search must find first. */
  readonly heldCount: number;
  /** Client tools that a search must find first. */
  readonly laterTools: readonly OfferedTool[];
  readonly signal: AbortSignal;
  readonly newItemId: ToolScope["newItemId"];
}

/** Requests one turn after the other from the model, and runs its calls. */
export class ToolLoop {
  readonly sources = new Sources();
  readonly #services: LoopServices;
  readonly #parts: LoopParts;
  readonly #line = new CallLine();
  readonly #calls: ToolCalls;
  readonly #intake: TurnIntake;
  readonly #programs: ProgramTurns;
  readonly #tally: TurnTally;
  readonly #usage: LoopUsage;
  readonly #models: ModelTurns;
  /** The client tools that are not deferred. */
  readonly #clientTools: readonly OfferedTool[];
  #items: readonly ContextItem[];
  #request: ModelRequest;
  #resumePoint: ResumePoint | null = null;
  /** The item of an interrupted turn that the next attempt continues. */
  #open: OpenPart | null = null;

  constructor(services: LoopServices, parts: LoopParts) {
    this.#services = services;
    this.#parts = parts;
    this.#calls = new ToolCalls({ ...parts, services, line: this.#line, sources: this.sources });
    this.#intake = new TurnIntake(this.#line, this.#calls);
    this.#programs = new ProgramTurns({ ...parts, services });
    this.#tally = new TurnTally(services.tools.limits.turnsMax);
    this.#models = new ModelTurns(services, parts, () => this.#calls.hasRun);
    this.sources.add(parts.set.sources);
    this.#usage = new LoopUsage(services, parts);
    this.#request = parts.task.request;
    this.#items = this.#request.items;
    const { tools } = parts.task.request;
    const laterTools = new Set(parts.laterTools);
    this.#clientTools = laterTools.size === 0 ? tools : tools.filter((tool) => !laterTools.has(tool));
  }

  /** Continues after a crash. */
  async goOnAt(point: ResumePoint): Promise<void> {
    this.#resumePoint = point;
    this.#open = point.open;
    this.#tally.goOnAt(point.turns);
    this.#calls.goOnAt(point);
    this.#programs.goOn([...this.#parts.task.tools.context, ...point.output]);
    if (point.citedBefore > 0) this.sources.goOn();
    this.#items = [...this.#items.filter((item) => !isApproval(item, point.spentIds)), ...point.items];
    await this.#usage.goOnAt(point.usage, { ...this.#request, items: this.#items });
  }

  /** All events. `first`: the first turn, if it was already requested. `stop` stops all work. */
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
      this.#services.observer.noteLoopEnd(this.#tally.number);
      await waitAtMost(CLOSE_WAIT_MS, Promise.all([work, this.#parts.set.close()]));
    }
  }

  /** Requests the next turn; null if no tokens are left for it. Rejects with `RunPaused` like the model does. */
  async ask(): Promise<Turn | null> {
    if (this.#programs.isOpen) return this.#askProgram();
    if (this.#parts.run.listener.isPaused()) throw new RunPaused();
    const { engine } = this.#services;
    const { task, set, run, signal } = this.#parts;
    const request = this.#nextRequest();
    if (request === null) return null;
    const rules = { dropsOldest: task.tools.fitsWindow, tools: set };
    const { items, request: fitting } = await fitTurn(engine, request, rules, signal);
    this.#items = items;
    this.#tally.begin();
    this.#request = request;
    try {
      return await this.#models.ask(fitting, this.#tally.number, this.#open);
    } catch (refusal) {
      const deeper = { ...rules, dropsOldest: rules.dropsOldest || run.dropsOldest };
      const fittedRequest = await fitRefused(engine, request, deeper, { refusal, signal });
      this.#items = fittedRequest.items;
      return await this.#models.ask(fittedRequest.request, this.#tally.number, this.#open);
    }
  }

  #askProgram(): Turn {
    this.#tally.begin(true);
    return this.#programs.turn(this.#callableTools(), this.#calls.left);
  }

  /** The client's tools that are offered by now. */
  #callableTools(): readonly OfferedTool[] {
    return [...this.#clientTools, ...foundClientTools(this.#calls.foundTools)];
  }

  lastRequest(): ModelRequest {
    return { ...this.#request, items: withoutOpenCalls(this.#items) };
  }

  async #work(first: Turn | null): Promise<void> {
    const { run, heldCount } = this.#parts;
    if (heldCount > 0 && this.#resumePoint === null)
      run.listener.onIncident({ type: "held_back", functions: heldCount });
    const end = await this.#settleResumed();
    if (end !== null) return this.#finish(end);
    if (first === null && (await this.#runApproved())) return this.#finish("stop");
    for (let turn = first ?? (await this.ask()); ; turn = await this.ask()) {
      const came = turn === null ? this.#outOfTokens() : await this.#read(turn);
      if (came === null) return;
      if (came === "again")
        this.#show({ type: "message_finished" }); // The text of the next turn is another message.
      else if (came !== "broke off") return this.#finish(came);
    }
  }

  /** Does the remaining steps after a crash. Returns how the response ends then; null if it continues. */
  async #settleResumed(): Promise<TurnFinish | null> {
    const point = this.#resumePoint;
    if (point?.endsOpen === true) this.#show({ type: "turn_cut" });
    const settledSteps = await Promise.all(point?.steps.map((step) => this.#calls.settle(step)) ?? []);
    this.#items = [...this.#items, ...settledSteps.flatMap((step) => this.#programs.settle(step))];
    this.#calls.showUsedBefore();
    this.#showOpening();
    if (point === null) return null;
    const isOver = settledSteps.some(({ asks }) => asks) || (point.isBetweenTurns && this.#tally.isLast);
    if (point.end !== null || isOver) return point.end ?? "stop";
    return this.endsSteered ? "steered" : null;
  }

  /** Whether input came before this process went on with the response, so that no turn follows the recorded one. */
  get endsSteered(): boolean {
    return this.#resumePoint?.isBetweenTurns === true && this.#isSteered();
  }

  /** A paused run is steered once it is resumed. */
  #isSteered(): boolean {
    const { listener } = this.#parts.run;
    return !this.#programs.isOpen && listener.isSteered() && !listener.isPaused();
  }

  #show(...events: Batch): void {
    const place = this.#line.take();
    place.add(...events);
    place.close();
  }

  #showOpening(): void {
    const shownLabels = this.#resumePoint?.lists.map(labelOf) ?? [];
    const lists = this.#parts.set.opening.filter(({ last }) => !shownLabels.includes(labelOf(last) ?? ""));
    this.#show(...lists.flatMap(({ first, last }) => wholeItem(first, last)));
  }

  #outOfTokens(): "length" {
    this.#services.observer.noteLimit("output_tokens");
    return "length";
  }

  #finish(reason: TurnFinish): void {
    const { total, last } = this.#usage;
    const contextTokens = last.inputTokens + last.outputTokens;
    this.#show({ type: "usage", usage: total, contextTokens }, { type: "finished", reason });
  }

  #nextRequest(): ModelRequest | null {
    const { task, set, laterTools } = this.#parts;
    const { request, tools } = task;
    const tokensLeft =
      request.maxOutputTokens === null ? null : request.maxOutputTokens - this.#usage.total.outputTokens;
    if (tokensLeft !== null && tokensLeft < OUTPUT_TOKENS_MIN && this.#tally.number > 0) return null;
    const { foundTools } = this.#calls;
    const isFirst = this.#tally.isBeforeFirst;
    const functions = this.#programs.offered(set.functions, this.#callableTools());
    const offer = { functions, laterTools, foundTools, isFirst, mayCall: this.#mayCall() };
    const offered = offerTools({ ...request, tools: this.#programs.direct(this.#clientTools) }, offer);
    return {
      ...request,
      ...offered,
      instructions: withNotes(request, tools.hosted, [...set.notes, ...guideNotes(set.guides, offered)]),
      items: this.#items,
      maxOutputTokens: tokensLeft,
    };
  }

  /** Whether tools of this server may be called in the next turn. In the last one, the model may only write. */
  #mayCall(): boolean {
    const isLast = this.#tally.isBeforeLast;
    if (isLast) this.#services.observer.noteLimit("turns");
    const { functions } = this.#parts.set;
    const isOver = functions.length > 0 && functions.every(({ definition }) => this.#calls.isOver(definition));
    return !isLast && this.#calls.hasRoom && !isOver && !this.#tally.isVain;
  }

  async #read(turn: Turn): Promise<TurnEnd> {
    const { run, signal } = this.#parts;
    const state = newTurn(this.#open, run.isBackground);
    this.#open = null;
    let turnRecord: TurnOnRecord | null = null;
    try {
      for await (const batch of turn) {
        for (const event of batch) this.#intake.hear(state, event, this.#tally.number);
        await (state.writing ?? state.place)?.read();
        if (signal.aborted) return null;
      }
      if (state.finish === null && !signal.aborted) return await this.#breakOff(state, this.#models.unfinishedError());
      // The ledger gets the turn before it gets calls with effects.
      turnRecord = state.finish === null ? null : await this.#count(state, state.finish);
    } catch (fault) {
      if (signal.aborted || this.#programs.isTurn) throw fault;
      return await this.#breakOff(state, fault);
    } finally {
      state.place?.close();
      state.turnEnd.resolve(state.finish === "stop");
    }
    if (state.finish === null || signal.aborted) return null;
    const [isAsking] = await Promise.all([this.#takeResults(state), turnRecord?.recording]);
    return signal.aborted ? null : this.#afterTurn(state, state.finish, isAsking);
  }

  /** Adds the turn's texts and calls to the context. Returns whether a call asks the client. */
  async #takeResults(state: TurnState): Promise<boolean> {
    const results = await Promise.all(state.calls.map((call) => call.result()));
    const isAsking = results.some(({ asks }) => asks);
    if (this.#programs.isTurn) {
      this.#items = [...this.#items, ...this.#programs.takeResults(results)];
      return isAsking;
    }
    const outputs: HostedOutput[] = results.flatMap(({ output }) => (output === null ? [] : [output]));
    this.#items = [...this.#items, ...this.#programs.beginAll(state.items.take(), results), ...outputs];
    return isAsking;
  }

  /**
   * Ends an interrupted turn. Started calls without effects become part of the context, all others are dropped. Throws
   * the fault if the model is not called again.
   */
  async #breakOff(state: TurnState, fault: unknown): Promise<TurnEnd> {
    const start = this.#items.length;
    state.turnEnd.resolve(false);
    if (state.writing !== null) this.#intake.endCall(state, state.writing, true);
    const open = state.open.take();
    if (open?.type === "reasoning") this.#intake.say(state, { type: "turn_cut" });
    state.place?.close();
    if (state.usage !== null) this.#usage.addBroken(state.usage);
    state.items.add({ type: "turn_cut" });
    const isAsking = await this.#takeResults(state);
    this.#items = [...this.#items.slice(0, start), ...withoutOpenCalls(this.#items.slice(start))];
    const next = open?.type === "reasoning" ? null : open;
    if (isAsking || state.hasAskedClient) {
      if (next !== null) this.#show({ type: "turn_cut" });
      return "stop";
    }
    await this.#models.waitAfter(fault, this.#tally.number, next);
    this.#open = next;
    if (state.calls.length === 0) this.#tally.takeBack();
    return "broke off";
  }

  async #count({ usage, items, calls, record }: TurnState, finish: TurnFinish): Promise<TurnOnRecord> {
    const hasCalls = calls.length > 0;
    const { task } = this.#parts;
    // The work after the last turn takes time, in which the process may die.
    const isFollowed = hasCalls || task.speech !== null || task.compaction?.type === "after";
    const isEnd = this.#programs.isTurn && !hasCalls; // The model's turn follows, whatever a ledger says of this one.
    const decision = isFollowed && !isEnd ? (record?.take(finish) ?? null) : null;
    const turn = { number: this.#tally.number, usage, characters: items.characters, decision };
    return await this.#usage.add(turn, { ...this.#request, items: this.#items });
  }

  #afterTurn(state: TurnState, finish: TurnFinish, isAsking: boolean): TurnEnd {
    if (finish !== "stop") return finish;
    const { isTurn: isProgram, isOpen: hasOpenProgram } = this.#programs;
    this.#programs.endTurn();
    const asksClient = state.asksClient || isAsking;
    if (!this.#tally.goesOnAfter({ isProgram, hasOpenProgram, asksClient, calls: state.calls })) return "stop";
    return !hasOpenProgram && this.#isSteered() ? "steered" : "again";
  }

  /** Runs the approved calls before the model is called. They replace their approvals. Returns whether one asks. */
  async #runApproved(): Promise<boolean> {
    const runs = await Promise.all(this.#parts.set.pending.map((pendingCall) => this.#calls.runApproved(pendingCall)));
    const spentIds = new Set(runs.flatMap(({ approvalRequestId }) => approvalRequestId ?? []));
    const byProgram = runs.filter((run) => this.#programs.isApproved(run.approvalRequestId));
    this.#programs.addEnded(byProgram);
    const shownRuns = runs.filter((run) => !byProgram.includes(run));
    this.#items = [
      ...this.#items.filter((item) => !isApproval(item, spentIds)),
      ...shownRuns.map(({ call }) => call),
      ...shownRuns.flatMap(({ output }) => output ?? []),
    ];
    return runs.some(({ asks }) => asks);
  }
}
