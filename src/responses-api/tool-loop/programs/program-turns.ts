import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ToolScope } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ContextItem, OfferedTool } from "@antiphon/domain/models/model-request.ts";
import type { CallOfProgram, ProgramRuntime, ProgramState } from "@antiphon/domain/programs.ts";
import { endedCall, type LoggedCall, type ProgramItem, unfinishedProgram } from "../../input/read-programs.ts";
import { wholeItem } from "../hosted-run.ts";
import type { LoopServices, ToolTask } from "../loop-parts.ts";
import type { PlacedFunction, ToolSet } from "../open-tools.ts";
import { cutOutput } from "../results/fence.ts";
import type { SettledStep } from "../started-call.ts";
import { type Callable, callablesOf, directFunctions, directTools, keyOf, withCallables } from "./callables.ts";

type ProgramOutput = Extract<StoredItem, { type: "program_output" }>;

/** How a call came out. */
interface EndedResult {
  readonly item: StoredItem | null;
  readonly asks?: boolean;
}

/** A call that shows no item. A program cannot go on after it. */
const LOST_CALL: LoggedCall = { name: "", server: null, result: null, approvalRequestId: null };

export interface ProgramTurnParts {
  readonly services: Pick<LoopServices, "tools">;
  readonly task: ToolTask;
  readonly set: ToolSet;
  readonly signal: AbortSignal;
  readonly newItemId: ToolScope["newItemId"];
}

const NO_USAGE: ModelUsage = {
  inputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

/**
 * The turns of programs. A program goes on in turns as a model does: a turn makes the calls that the program waits
 * for, or ends it. Each turn runs the program anew with the results of its earlier calls, so nothing of it is kept in
 * memory, and it goes on in a later response, on another server, and after a crash.
 */
export class ProgramTurns {
  readonly #parts: ProgramTurnParts;
  readonly #runtime: ProgramRuntime | null;
  #item: ProgramItem | null = null;
  #calls: LoggedCall[] = [];
  #output: ProgramOutput | null = null;
  #isTurn = false;

  constructor(parts: ProgramTurnParts) {
    this.#parts = parts;
    this.#runtime = parts.set.functions.find(({ tool }) => tool.programs !== undefined)?.tool.programs ?? null;
    this.goOn(parts.task.tools.context);
  }

  /** Goes on with the program at the end of these items, if there is one. */
  goOn(items: readonly StoredItem[]): void {
    const open = this.#runtime === null ? null : unfinishedProgram(items);
    this.#item = open?.item ?? null;
    this.#calls = [...(open?.calls ?? [])];
  }

  /** Whether a program has not ended, so that its turn is next. */
  get isOpen(): boolean {
    return this.#item !== null;
  }

  /** Whether the current turn is one of a program. */
  get isTurn(): boolean {
    return this.#isTurn;
  }

  /** The functions that the model may call itself, with the callables in the description of programs. */
  offered(functions: readonly PlacedFunction[], tools: readonly OfferedTool[]): readonly PlacedFunction[] {
    if (this.#runtime === null) return functions;
    const callables = this.#callables(tools);
    return directFunctions(functions, this.#parts.task.tools.hosted).map((entry) =>
      entry.tool.programs === undefined ? entry : { ...entry, definition: withCallables(entry.definition, callables) },
    );
  }

  /** The client's tools without those that only programs may call. */
  direct(tools: readonly OfferedTool[]): readonly OfferedTool[] {
    return this.#runtime === null ? tools : directTools(tools);
  }

  /** Begins the programs of a turn. Returns its items, with the programs in the place of the calls that began them. */
  beginAll(items: readonly ContextItem[], results: readonly EndedResult[]): readonly ContextItem[] {
    const programs = results.flatMap(({ item }) => (item?.type === "program" ? [item] : []));
    for (const program of programs) this.#begin(program);
    return withPrograms(items, programs);
  }

  #begin(item: ProgramItem): void {
    this.#item = item;
    this.#calls = [];
  }

  /**
   * The items of a call that was settled after a crash, as the model sees them: none for a call of the open program,
   * and the program for a call that begins one.
   */
  settle({ item, items }: SettledStep): readonly ContextItem[] {
    if (item?.type === "program") {
      this.#begin(item);
      return withPrograms(items, [item]);
    }
    if (!this.isOpen || item === null || endedCall(item) === null) return items;
    this.addEnded([{ item }]);
    return [];
  }

  endTurn(): void {
    this.#isTurn = false;
  }

  /** Calls of the program have ended, or ask the client. */
  addEnded(results: readonly EndedResult[]): void {
    for (const { item, asks } of results) {
      const call = item === null ? null : endedCall(item);
      const id = call?.approvalRequestId ?? null;
      const place = this.#calls.findIndex((one) => id !== null && one.approvalRequestId === id);
      if (place !== -1 && call !== null) this.#calls[place] = call;
      else if (asks !== true) this.#calls.push(call ?? LOST_CALL);
    }
  }

  /** Whether an approval is one for a call of the open program. */
  isApproved(approvalRequestId: string | null): boolean {
    return approvalRequestId !== null && this.#calls.some((one) => one.approvalRequestId === approvalRequestId);
  }

  /** Takes the results of a program's turn. Returns what the model sees of it: the output of a program that ended. */
  takeResults(results: readonly EndedResult[]): readonly ContextItem[] {
    this.addEnded(results);
    const output = this.#output;
    this.#output = null;
    return output === null ? [] : [output];
  }

  /**
   * The next turn of the open program. `tools`: the client's tools. `callsLeft`: how many calls of hosted tools the
   * limits allow.
   */
  turn(tools: readonly OfferedTool[], callsLeft: number): AsyncGenerator<readonly ModelEvent[]> {
    if (this.#item === null) throw new Error("no program is open");
    this.#isTurn = true;
    return this.#eventsOf(this.#item, tools, callsLeft);
  }

  async *#eventsOf(
    item: ProgramItem,
    tools: readonly OfferedTool[],
    callsLeft: number,
  ): AsyncGenerator<readonly ModelEvent[]> {
    const callables = this.#callables(tools);
    const state = limitCalls(await this.#run(item, callables), callables, callsLeft);
    if (state.type === "ended") yield this.#end(item, state);
    else for (const call of state.calls) yield callEvents(call, callables, item.call_id);
    yield [
      { type: "usage", usage: NO_USAGE },
      { type: "finished", reason: "stop" },
    ];
  }

  async #run(program: ProgramItem, callables: readonly Callable[]): Promise<ProgramState> {
    if (this.#runtime === null) throw new Error("there is no runtime for programs");
    const earlierCalls = this.#calls.map((call) => ({
      name: keyOf(callables, call) ?? call.name,
      result: call.result,
    }));
    const names = callables.map(({ key }) => key);
    return await this.#runtime.run({ program, names, earlierCalls }, this.#parts.signal);
  }

  #end({ call_id }: ProgramItem, { status, result }: Extract<ProgramState, { type: "ended" }>): readonly ModelEvent[] {
    const { services, newItemId } = this.#parts;
    const text = cutOutput(result, services.tools.limits.outputCharactersMax);
    const output = { id: newItemId("cmo"), type: "program_output", status, call_id, result: text } as const;
    this.#item = null;
    this.#output = output;
    return wholeItem({ ...output, result: "" }, output);
  }

  #callables(tools: readonly OfferedTool[]): readonly Callable[] {
    const { set, task } = this.#parts;
    return callablesOf(tools, set.functions, task.tools.hosted);
  }
}

/** The items with the programs in the place of the calls that began them. */
export function withPrograms(items: readonly ContextItem[], programs: readonly ProgramItem[]): readonly ContextItem[] {
  if (programs.length === 0) return items;
  const programsByCall = new Map(programs.map((program) => [program.call_id, program]));
  return items.map((item) => (item.type === "hosted_call" ? (programsByCall.get(item.callId) ?? item) : item));
}

/** Ends a program that needs more calls than are left. */
function limitCalls(state: ProgramState, callables: readonly Callable[], callsLeft: number): ProgramState {
  if (state.type === "ended") return state;
  const hosted = state.calls.filter(({ name }) => callables.some((one) => one.key === name && one.kind === "hosted"));
  if (hosted.length <= callsLeft) return state;
  const result = "The program was stopped: it needs more calls of tools than this response may make.";
  return { type: "ended", status: "incomplete", result };
}

function callEvents(
  { name: key, arguments: args }: CallOfProgram,
  callables: readonly Callable[],
  callerId: string,
): readonly ModelEvent[] {
  const callable = callables.find((one) => one.key === key);
  if (callable === undefined) throw new Error(`a program called '${key}', which it does not have`);
  const { kind, name, server } = callable;
  const namespace = server === null ? {} : { namespace: server };
  return [
    { type: "call_started", kind, callId: null, name, ...namespace, callerId },
    { type: "call_delta", text: args },
    { type: "call_finished" },
  ];
}
