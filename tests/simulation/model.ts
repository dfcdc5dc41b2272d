import type { HostedTool, MadeCall, ToolCall } from "@antiphon/domain/hosted-tool.ts";
import type { ToolStep } from "@antiphon/domain/models/hosted.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { WITHOUT_RETRIEVAL } from "@antiphon/domain/models/retrieval.ts";
import type { Random } from "./random.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** The functions that models of the simulation call, and what running one twice does. */
export const FUNCTIONS = { pay: "may_have", look: "none", compute: "sandboxed" } as const;
const EFFECTS: ReadonlyMap<string, ToolCall["effect"]> = new Map(Object.entries(FUNCTIONS));
const NO_STEPS: readonly ToolStep[] = [];
export type FunctionName = keyof typeof FUNCTIONS;

/** What a model does for one intention: the calls of each turn; then it says the words. */
export interface Script {
  readonly turns: readonly (readonly FunctionName[])[];
  readonly words: readonly string[];
}

/** What models and tools did for one intention, as they know it themselves. */
export class Deeds {
  /** How often each call acted, as `0.1 pay`. */
  readonly effects = new Map<string, number>();
  /** The turn that was asked for, by asking. Its input tokens are a power of `USAGE_BASE`. */
  readonly askedTurns: number[] = [];
  /** The askings whose answer was sent to its end. */
  readonly answeredAskings = new Set<number>();
}

/** Input tokens are digits to this base, so that a sum tells how often each asking was counted. */
export const USAGE_BASE = 4;
/** More askings than fit a sum; further ones count no tokens. */
export const ASKINGS_COUNTED = 24;

/** How models and tools behave. Each fault is a share of 1. */
export interface OutsideFaults {
  /** The model server refuses a turn for now. */
  readonly refused: number;
  /** An answer breaks off. */
  readonly broken: number;
  readonly latencyMs: number;
  readonly toolMs: number;
}

export interface Outside {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Does what happens outside of all nodes. */
  readonly actor: Actor;
  readonly faults: OutsideFaults;
  /** By the name of the model, which each intention has for itself. */
  readonly scripts: ReadonlyMap<string, Script>;
  readonly deeds: ReadonlyMap<string, Deeds>;
}

/** The model server, as one node reaches it. */
export function simulatedEngine(outside: Outside, actor: Actor): ModelEngine {
  return {
    ...WITHOUT_RETRIEVAL,
    name: "simulated",
    abilitiesOf: () => ({ images: false, imageUrls: false, files: false, audioFormats: [] }),
    sample: (request, signal) => answer(outside, actor, request, signal),
    listModels: async () => [],
    countTokens: async () => ({ tokens: 1, exact: true }),
    estimateTokens: async () => 0,
    continuesAnswers: async () => false,
    reasoningDefaults: () => null,
    notesOn: () => [],
    contextWindow: async () => null,
  };
}

async function answer(
  { scheduler, random, faults, scripts, deeds }: Outside,
  actor: Actor,
  { model, items }: ModelRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<readonly ModelEvent[]>> {
  const script = scripts.get(model);
  const done = deeds.get(model);
  if (script === undefined || done === undefined) throw new Error(`no script for ${model}`);
  await scheduler.wait(actor, random.between(0, faults.latencyMs), `model ${model}`);
  if (random.happens(faults.refused)) throw overloaded();
  const turn = nextTurn(model, script, items);
  const asking = done.askedTurns.push(turn.number) - 1;
  scheduler.trace.note(`turn ${turn.number} of ${model} is asked for`);
  const events = [...turn.events, usageOf(asking), { type: "finished", reason: "stop" } as const];
  const end = random.happens(faults.broken) ? random.below(events.length) : events.length;
  return (async function* () {
    for (const [place, event] of events.entries()) {
      await scheduler.wait(actor, random.between(0, faults.latencyMs), `model ${model} says ${event.type}`);
      if (signal.aborted) return;
      if (place === end) throw overloaded();
      if (event.type === "finished") done.answeredAskings.add(asking);
      yield [event];
    }
  })();
}

function overloaded(): ModelError {
  return new ModelError("The model server is busy.", { status: 503, type: "server_error", retry: "often" });
}

function usageOf(asking: number): ModelEvent {
  const inputTokens = asking < ASKINGS_COUNTED ? USAGE_BASE ** asking : 0;
  return {
    type: "usage",
    usage: { inputTokens, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 },
  };
}

/** The first turn of which the model has not been shown all results. */
function nextTurn(
  model: string,
  { turns, words }: Script,
  items: ModelRequest["items"],
): { readonly number: number; readonly events: readonly ModelEvent[] } {
  const answered = new Set(items.flatMap((item) => (item.type === "hosted_output" ? [item.callId] : [])));
  const shown = new Set(
    items.flatMap((item) => (item.type === "hosted_call" && answered.has(item.callId) ? [keyOf(item.arguments)] : [])),
  );
  for (const [number, calls] of turns.entries()) {
    const open = calls
      .map((name, index) => ({ name, key: `${number}.${index} ${name}` }))
      .filter(({ key }) => !shown.has(key));
    if (open.length === 0) continue;
    const events = open.flatMap(({ name, key }): readonly ModelEvent[] => [
      { type: "call_started", kind: "hosted", callId: `call_${key.replace(/\W/g, "")}`, name, namespace: LABEL },
      { type: "call_delta", text: `{"key":"${key}",` },
      { type: "call_delta", text: `"model":"${model}"}` },
      { type: "call_finished" },
    ]);
    return { number, events: number === 0 ? [{ type: "text_delta", text: "Let me see." }, ...events] : events };
  }
  return { number: turns.length, events: words.map((text) => ({ type: "text_delta", text })) };
}

function keyOf(args: string): string {
  return /"key":"([^"]*)"/.exec(args)?.[1] ?? "";
}

const LABEL = "lab";
/** The tool in a request that offers the functions. */
export const LAB = {
  type: "mcp",
  server_label: LABEL,
  server_url: "https://lab.test/mcp",
  require_approval: "never",
} as const;

/** The tools' server, as one node reaches it. */
export function simulatedTool(outside: Outside, actor: Actor): HostedTool {
  return {
    kind: "mcp",
    types: ["mcp"],
    refusal: () => null,
    open: async () => ({
      functions: Object.keys(FUNCTIONS).map((name) => ({
        type: "hosted_function",
        name,
        server: LABEL,
        description: name,
        parameters: { type: "object" },
      })),
      note: null,
      opening: [],
      pending: [],
      call: (name, made) => callOf(outside, actor, name, made),
      close: async () => {},
    }),
  };
}

function callOf(outside: Outside, actor: Actor, name: string, made: MadeCall): ToolCall {
  const { scheduler, random, faults } = outside;
  const item = {
    id: made.newItemId("mcp"),
    type: "mcp_call",
    approval_request_id: null,
    name,
    server_label: LABEL,
    error: null,
    output: null,
    arguments: "",
  } as const;
  const effect = EFFECTS.get(name) ?? "none";
  return {
    item: { ...item, status: "in_progress" },
    streams: "arguments",
    effect,
    async *run(args, signal) {
      yield* NO_STEPS;
      const key = keyOf(args);
      const model = /"model":"([^"]*)"/.exec(args)?.[1] ?? "";
      // It acts even if the node that called it is dead by then.
      const actsAfterMs = random.between(0, faults.toolMs);
      scheduler.plan(outside.actor, actsAfterMs, `${model} ${key} acts`, () => act(outside, model, key));
      await scheduler.wait(actor, actsAfterMs + random.between(0, faults.toolMs), `${model} ${key} returns`);
      if (signal.aborted) return { type: "unknown" };
      const output = `did ${key}`;
      return {
        type: "ran",
        item: { ...item, status: "completed", arguments: args, output },
        output,
        parts: [],
        sources: [],
      };
    },
  };
}

function act({ deeds }: Outside, model: string, key: string): void {
  const effects = deeds.get(model)?.effects;
  effects?.set(key, (effects.get(key) ?? 0) + 1);
}
