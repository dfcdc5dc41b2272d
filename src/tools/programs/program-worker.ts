import { parentPort, workerData } from "node:worker_threads";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { CallOfProgram, ProgramState } from "@antiphon/domain/programs.ts";
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSDeferredPromise,
  type QuickJSHandle,
  shouldInterruptAfterDeadline,
} from "quickjs-emscripten-core";
import type { ProgramTask } from "./program-task.ts";

const STACK_BYTES_MAX = 512 * 1024;
/** The longest text of an error that is shown. */
const ERROR_CHARACTERS_MAX = 2000;
/** Lines before the first line of the program in the source that runs. */
const LINES_BEFORE = 1;

/**
 * What a program finds: `tools`, `text` and `image`. The clock and the random numbers are fixed, so that each run of
 * the program makes the same calls. `host` is gone before the program begins.
 */
const PRELUDE = `(host, names, now, seed) => {
  const { parse, stringify } = JSON;
  const valueOf = (text) => { try { return parse(text); } catch { return text; } };
  const entries = names.map((name) => [name, async (input) => {
    const { isError, text } = parse(await host.call(name, typeof input === "string" ? input : stringify(input ?? {})));
    if (isError) throw new Error(text);
    return valueOf(text);
  }]);
  const RealDate = Date;
  class FixedDate extends RealDate {
    constructor(...parts) { if (parts.length === 0) super(now); else super(...parts); }
    static now() { return now; }
  }
  let state = seed >>> 0;
  Math.random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  delete globalThis.performance;
  globalThis.Date = FixedDate;
  globalThis.tools = Object.freeze(Object.fromEntries(entries));
  globalThis.text = (value) => host.text(typeof value === "string" ? value : stringify(value) ?? String(value));
  globalThis.image = () => { throw new Error("Programs of this server write text only."); };
}`;

interface MadeCall extends CallOfProgram {
  readonly promise: QuickJSDeferredPromise;
}

/** One run of a program, from its beginning until it waits or ends. */
class ProgramRun {
  readonly #task: ProgramTask;
  readonly #context: QuickJSContext;
  readonly #calls: MadeCall[] = [];
  readonly #texts: string[] = [];
  #characters = 0;
  /** Why the program may not go on. */
  #stop: string | null = null;

  constructor(task: ProgramTask, context: QuickJSContext) {
    this.#task = task;
    this.#context = context;
    const isLate = shouldInterruptAfterDeadline(Date.now() + task.limits.runMs);
    context.runtime.setInterruptHandler((runtime) => this.#stop !== null || isLate(runtime));
  }

  run(): ProgramState {
    const context = this.#context;
    this.#prepare();
    const evaluation = context.evalCode(`(async () => {\n${this.#task.code}\n})()`, "program.js");
    if (evaluation.error) return this.#failed(evaluation.error);
    const promise = evaluation.value;
    for (let answered = 0; ; ) {
      const jobs = context.runtime.executePendingJobs();
      if (jobs.error) return this.#failed(jobs.error);
      if (this.#stop !== null) return this.#ended("incomplete", this.#stop);
      const state = context.getPromiseState(promise);
      if (state.type === "rejected") return this.#failed(state.error);
      if (state.type === "fulfilled") return this.#completed(state.value);
      const round = this.#calls.slice(answered);
      if (round.length === 0) return this.#ended("incomplete", "The program waits for something that never comes.");
      const fault = this.#answer(round, answered);
      if (fault !== null) return fault;
      answered = this.#calls.length;
    }
  }

  /**
   * Gives a round of calls their results, in the order of the calls and all at once, so that a later run does the same.
   * Returns how the run ends if that is not possible.
   */
  #answer(round: readonly MadeCall[], offset: number): ProgramState | null {
    const known = this.#task.earlierCalls.slice(offset, offset + round.length);
    const isOther = known.some(({ name }, index) => name !== round[index]?.name);
    if (isOther) return this.#ended("incomplete", "The program cannot go on: it would make other calls than before.");
    const waiting = round.filter((_call, index) => known[index] === undefined);
    if (waiting.length > 0)
      return { type: "waits", calls: waiting.map(({ name, arguments: args }) => ({ name, arguments: args })) };
    for (const [index, { promise }] of round.entries()) {
      const result = known[index]?.result ?? { isError: true, text: "The call has no result." };
      this.#context.newString(JSON.stringify(result)).consume((value) => promise.resolve(value));
    }
    return null;
  }

  #prepare(): void {
    const context = this.#context;
    const { names, now, seed } = this.#task;
    const host = context.newObject();
    const call = context.newFunction("call", (name, args) =>
      this.#call(context.getString(name), context.getString(args)),
    );
    const text = context.newFunction("text", (value) => this.#write(context.getString(value)));
    context.setProp(host, "call", call);
    context.setProp(host, "text", text);
    const prelude = context.unwrapResult(context.evalCode(PRELUDE, "prelude.js"));
    const nameList = context.unwrapResult(context.evalCode(JSON.stringify(names), "names.json"));
    const values = [host, nameList, context.newNumber(now), context.newNumber(seed)];
    context.unwrapResult(context.callFunction(prelude, context.undefined, ...values)).dispose();
  }

  #call(name: string, args: string): QuickJSHandle {
    const promise = this.#context.newPromise();
    if (this.#calls.length >= this.#task.limits.callsMax) this.#stop ??= "The program made too many calls.";
    else this.#calls.push({ name, arguments: args, promise });
    return promise.handle;
  }

  #write(text: string): void {
    this.#characters += text.length;
    if (this.#characters > this.#task.limits.charactersMax) this.#stop ??= "The program wrote too much text.";
    else this.#texts.push(text);
  }

  /** A program that wrote nothing has the value that it returned as its result. */
  #completed(value: QuickJSHandle): ProgramState {
    if (this.#texts.length > 0 || this.#context.typeof(value) === "undefined") return this.#ended("completed");
    const returned: unknown = this.#context.dump(value);
    this.#write(typeof returned === "string" ? returned : (JSON.stringify(returned) ?? ""));
    return this.#ended(this.#stop === null ? "completed" : "incomplete", this.#stop);
  }

  #failed(error: QuickJSHandle): ProgramState {
    const value: unknown = this.#context.dump(error);
    if (!isRecord(value)) return this.#ended("incomplete", `Error: ${String(value)}`);
    const { name = "Error", message = "", stack = "" } = value;
    if (name === "InternalError" && message === "interrupted")
      return this.#ended("incomplete", this.#stop ?? "The program ran for too long.");
    const line = Number(/program\.js:(\d+)/.exec(String(stack))?.[1] ?? 0) - LINES_BEFORE;
    const place = line > 0 ? ` (line ${line})` : "";
    return this.#ended("incomplete", `${String(name)}: ${String(message)}${place}`.slice(0, ERROR_CHARACTERS_MAX));
  }

  #ended(status: "completed" | "incomplete", fault: string | null = null): ProgramState {
    return { type: "ended", status, result: [...this.#texts, ...(fault === null ? [] : [fault])].join("\n") };
  }
}

async function runTask(task: ProgramTask): Promise<ProgramState> {
  const quickjs = await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-ng-wasmfile-release-sync"));
  const runtime = quickjs.newRuntime();
  runtime.setMemoryLimit(task.limits.memoryBytesMax);
  runtime.setMaxStackSize(STACK_BYTES_MAX);
  return new ProgramRun(task, runtime.newContext()).run(); // The thread ends afterwards, and takes all memory with it.
}

function isProgramTask(value: unknown): value is ProgramTask {
  return isRecord(value) && typeof value["code"] === "string";
}

const task: unknown = workerData;
if (parentPort !== null && isProgramTask(task)) parentPort.postMessage(await runTask(task));
