import { newIdStem } from "@antiphon/base/ids.ts";
import type { Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTool, MadeCall, ToolCall } from "@antiphon/domain/hosted-tool.ts";
import { SAMPLE_ITEMS } from "@antiphon/domain/models/hosted-items.fixture.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { lintEvents } from "@antiphon/stream-grammar/stream-linter.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { ResponseFold } from "../../runs/index.ts";
import { aResponse } from "../../runs/run.fixture.ts";
import type { RunTask } from "../task/run-task.ts";
import type { MortalProcess } from "./mortal-process.fixture.ts";
import { liveThrough, mortalEngine } from "./mortal-run.fixture.ts";

const IDS = newIdStem(1_800_000_000);
const SCENARIOS = 12;
const TIMEOUT_MS = 120_000;

/** The functions that a model of these tests calls. */
const FUNCTIONS = {
  pay: { server: "lab", type: "mcp_call", effect: "may_have" },
  /** Recognises its key, which is the id of its item. */
  send: { server: "lab", type: "mcp_call", effect: "idempotent" },
  look: { server: "lab", type: "mcp_call", effect: "none" },
  web_search: { server: null, type: "web_search_call", effect: "none" },
  code_interpreter: { server: null, type: "code_interpreter_call", effect: "sandboxed" },
  shell: { server: null, type: "shell_call", effect: "sandboxed" },
  generate_image: { server: null, type: "image_generation_call", effect: "none" },
  file_search: { server: null, type: "file_search_call", effect: "none" },
  /** Not offered, so it is refused. */
  gone: { server: null, type: "file_search_call", effect: "none" },
} as const;
type Name = keyof typeof FUNCTIONS;
const NAMES: readonly Name[] = [
  "pay",
  "send",
  "look",
  "web_search",
  "code_interpreter",
  "shell",
  "generate_image",
  "file_search",
  "gone",
];
const IN_CONTAINER = { environment: { type: "container_reference", container_id: "cntr_1" } } as const;

/** How the last turn ends: with a text, or with a call of the client, perhaps behind a text or another call. */
const ENDINGS = ["text", "texts", "call", "text and call", "calls"] as const;

interface Scenario {
  readonly ending: (typeof ENDINGS)[number];
  /** Whether the model says something else each time that it is asked for the same. */
  readonly varies: boolean;
  readonly turns: readonly {
    readonly thinks: boolean;
    readonly speaks: boolean;
    readonly calls: readonly Name[];
    /** Whether it says something behind its calls, too. */
    readonly adds: boolean;
  }[];
  readonly isParallel: boolean;
  readonly compacts: boolean;
  readonly isSpoken: boolean;
}

const anyScenario: fc.Arbitrary<Scenario> = fc.record({
  ending: fc.constantFrom(...ENDINGS),
  varies: fc.boolean(),
  turns: fc.array(
    fc.record({
      thinks: fc.boolean(),
      speaks: fc.boolean(),
      calls: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }),
      adds: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  isParallel: fc.boolean(),
  compacts: fc.boolean(),
  isSpoken: fc.boolean(),
});

/** What happened over all lives of the process. */
interface World {
  readonly scenario: Scenario;
  /** The calls that acted, as `0.1 pay`. */
  readonly done: string[];
  /** The keys of the calls of `send`, by the calls. */
  readonly sentKeys: Map<string, Set<string>>;
  /** The input tokens of each turn that the model server told of. */
  readonly told: { readonly tokens: number }[];
  /** The calls and results that the model was shown last. */
  shown: readonly string[];
}

/** Makes the calls of the first turn that it has not been shown all results of, then says that it is done. */
async function* say(request: ModelRequest, world: World, life: MortalProcess) {
  const events = eventsFor(request, world);
  // No recorded turn is asked for again.
  for (const key of keysIn(events)) expect(decidedKeys(life)).not.toContain(key);
  for (const event of events) {
    await life.alive();
    yield [event];
  }
}

function keysIn(events: readonly ModelEvent[]): readonly string[] {
  return events
    .flatMap((event) => (event.type === "call_delta" ? [keyOf(event.text)] : []))
    .filter((key) => key !== "");
}

/** The calls of the turns whose end is in the ledger. */
function decidedKeys(life: MortalProcess): readonly string[] {
  const parts = [...life.turns.values()].flatMap(({ decision }) => decision?.parts ?? []);
  return parts.flatMap((part) => (part.type === "call" ? [keyOf(part.arguments)] : []));
}

/** The end of the last turn. */
function lastWords({ scenario: { ending, varies }, told }: World): readonly ModelEvent[] {
  const mark = varies ? ` (${told.length})` : "";
  const text = [
    { type: "text_delta", text: "All" },
    { type: "text_delta", text: ` is${mark}` },
    { type: "text_delta", text: " done." },
  ] as const;
  const call = (name: string): readonly ModelEvent[] => [
    { type: "call_started", kind: "function", callId: `call_${name}${told.length}`, name },
    { type: "call_delta", text: `{"note":"${mark}",` },
    { type: "call_delta", text: '"to":"user"}' },
    { type: "call_finished" },
  ];
  switch (ending) {
    case "text":
      return text;
    case "texts":
      return [...text, { type: "message_started" }, ...text];
    case "call":
      return call("tell");
    case "text and call":
      return [...text, ...call("tell")];
    case "calls":
      return [...call("tell"), ...call("ask")];
  }
}

function eventsFor({ items, toolChoice }: ModelRequest, world: World): readonly ModelEvent[] {
  const finished: ModelEvent = { type: "finished", reason: "stop" };
  if (toolChoice === "none") return [{ type: "text_delta", text: "A summary." }, finished];
  const answered = new Set(items.flatMap((item) => (item.type === "hosted_output" ? [item.callId] : [])));
  world.shown = items.flatMap((item) =>
    item.type === "hosted_call" && answered.has(item.callId) ? [keyOf(item.arguments)] : [],
  );
  const turns = world.scenario.turns.map((turn, number) => ({
    ...turn,
    open: turn.calls.map((name, index) => ({ name, key: `${number}.${index} ${name}` })),
  }));
  const left = turns.map((turn) => ({ ...turn, open: turn.open.filter(({ key }) => !world.shown.includes(key)) }));
  const turn = left.find(({ open }) => open.length > 0);
  const tokens = 100 + world.told.length;
  const usage = { inputTokens: tokens, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 };
  world.told.push({ tokens });
  const end: readonly ModelEvent[] = [{ type: "usage", usage }, finished];
  if (turn === undefined) return [...lastWords(world), ...end];
  return [
    ...(turn.thinks ? [{ type: "reasoning_delta", text: "Hm." } as const] : []),
    ...(turn.speaks ? [{ type: "text_delta", text: "Let me see." } as const] : []),
    ...turn.open.flatMap(({ name, key }): readonly ModelEvent[] => [
      { type: "call_started", kind: "hosted", callId: `call_${key[0]}${key[2]}`, name, ...serverOf(name) },
      { type: "call_delta", text: `{"key":"${key}",` },
      { type: "call_delta", text: '"code":"print(1)"}' },
      { type: "call_finished" },
    ]),
    ...(turn.adds ? ([{ type: "text_delta", text: "So, let us wait." }] as const) : []),
    ...end,
  ];
}

function serverOf(name: Name): { readonly namespace?: string } {
  const { server } = FUNCTIONS[name];
  return server === null ? {} : { namespace: server };
}

function keyOf(args: string): string {
  return /"key":"([^"]*)"/.exec(args)?.[1] ?? "";
}

function toolOf(world: World, life: MortalProcess): HostedTool {
  return {
    kind: "mcp",
    types: ["mcp"],
    refusal: () => null,
    open: async () => ({
      functions: NAMES.filter((name) => name !== "gone").map((name) => ({
        type: "hosted_function",
        name,
        server: FUNCTIONS[name].server,
        description: name,
        parameters: { type: "object" },
      })),
      note: null,
      opening: [],
      pending: [],
      call: (name, made) => callOf(NAMES.find((one) => one === name) ?? "look", made, { world, life }),
      close: async () => {},
    }),
  };
}

function callOf(
  name: Name,
  { callId, newItemId }: MadeCall,
  { world, life }: { readonly world: World; readonly life: MortalProcess },
): ToolCall {
  const { type, effect, server } = FUNCTIONS[name];
  const sample = SAMPLE_ITEMS[type](newItemId("it"));
  const inShell = type === "shell_call" ? { ...IN_CONTAINER, call_id: callId } : {};
  const named = server === null ? inShell : { name, server_label: server };
  const printed = SAMPLE_ITEMS.shell_call_output(newItemId("it"));
  const following = { first: { ...printed.first, call_id: callId }, last: { ...printed.last, call_id: callId } };
  const streams = type === "mcp_call" ? ("arguments" as const) : null;
  return {
    item: { ...sample.first, ...named },
    streams: type === "code_interpreter_call" ? { member: "code" } : streams,
    effect,
    async *run(args) {
      await life.alive();
      world.done.push(keyOf(args));
      const sentKeys = world.sentKeys.get(keyOf(args)) ?? new Set();
      if (name === "send") world.sentKeys.set(keyOf(args), sentKeys.add(sample.first.id ?? ""));
      if (type === "web_search_call") yield { type: "searching" };
      if (type === "code_interpreter_call") yield { type: "interpreting" };
      await life.alive();
      const written = type === "mcp_call" ? { arguments: args } : {};
      return {
        type: "ran",
        item: { ...sample.last, ...named, ...written },
        output: `did ${keyOf(args)}`,
        parts: [],
        sources: [],
        ...(type === "web_search_call" ? { usage: { webSearches: 1 } } : {}),
        ...(type === "shell_call" ? { following: [following] } : {}),
      };
    },
  };
}

const MCP = { type: "mcp", server_label: "lab", server_url: "https://lab.test/mcp" } as const;

function taskOf({ isParallel, compacts, isSpoken, turns }: Scenario): RunTask {
  const tools = {
    hosted: [{ kind: "mcp", tool: MCP }],
    include: [],
    callsMax: null,
    context: [],
    fitsWindow: false,
  } as const;
  return {
    ids: IDS,
    reasoning: { rawAs: "text", isSealed: false },
    inputTokensEstimate: 1,
    request: { ...aRequest({ parallelToolCalls: isParallel }), trace: null },
    speech: isSpoken ? { format: "pcm16", voice: null, sampleRateHz: 24_000 } : null,
    compaction: compacts ? { type: "after", threshold: 1 } : null,
    tools: turns.length === 0 ? null : tools,
    interruption: null,
  };
}

/** Lives until each of these deaths, and then to the end. */
async function playThrough(scenario: Scenario, deaths: readonly number[]) {
  const world: World = { scenario, done: [], sentKeys: new Map(), told: [], shown: [] };
  const partsOf = (life: MortalProcess) => ({
    engine: mortalEngine(life, (request) => say(request, world, life)),
    tools: [toolOf(world, life)],
  });
  return { world, lives: await liveThrough(partsOf, taskOf(scenario), deaths) };
}

const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed"]);

function check({ world, lives }: Awaited<ReturnType<typeof playThrough>>): void {
  const last = lives.at(-1);
  const events: readonly ResponseStreamEvent[] = (last?.events ?? []).map(({ event }) => event);
  const body = last?.body ?? aResponse();
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, number) => number));
  expect(events.flatMap(({ type }, at) => (TERMINAL.has(type) ? [at] : []))).toEqual([events.length - 1]);
  expect(lintEvents(structuredClone([...events])).faults).toEqual([]);
  const fold = new ResponseFold();
  for (const event of events) fold.apply(event);
  expect(fold.response).toEqual(body);
  const often = new Map<string, number>();
  for (const key of world.done) often.set(key, (often.get(key) ?? 0) + 1);
  for (const [key, times] of often) expect(times, key).toBeLessThanOrEqual(key.endsWith("pay") ? 1 : lives.length);
  for (const [key, itemIds] of world.sentKeys) expect([...itemIds], key).toHaveLength(1);
  for (const { name, result } of last?.exchanges.values() ?? [])
    if (name === "send") expect(result?.outcome).toBe("finished");
  expect(body.status).toBe("completed");
  const wasCut = lives.length > 1;
  checkWhole(body, world, wasCut && world.scenario.ending.includes("call") ? null : callingTurns(last));
  checkEnding(body, world.scenario, wasCut);
}

/** How many turns with calls of this server's tools are in the ledger. */
function callingTurns(life: MortalProcess | undefined): number {
  const turns = [...(life?.turns.values() ?? [])];
  return turns.filter(({ decision }) => decision?.parts.some(({ type }) => type === "call")).length;
}

/** All that the model wanted to say is said; what was cut ended as incomplete. */
function checkEnding({ output }: Response, { ending, varies, turns }: Scenario, wasCut: boolean): void {
  const texts = output.flatMap((item) =>
    item.type === "message" && item.status === "completed"
      ? [item.content.map((part) => ("text" in part ? part.text : "")).join("")]
      : [],
  );
  const calls = output.flatMap((item) =>
    item.type === "function_call" && item.status === "completed" ? [item.name] : [],
  );
  const said = texts.filter((text) => /^All is.* done\.$/.test(text)).length;
  const expected = { text: [1, 0], texts: [2, 0], call: [0, 1], "text and call": [1, 1], calls: [0, 2] }[ending];
  if (!wasCut) expect([said, calls.length]).toEqual(expected);
  // A turn that broke off behind a call of the client is not asked for again.
  else if (ending === "calls") expect(calls.length).toBeGreaterThan(0);
  else expect(calls.length, JSON.stringify(output)).toBe(expected[1]);
  if (wasCut) expect(said).toBeGreaterThanOrEqual(expected[0] ?? 0);
  // Behind a call that has run, the model is asked for something else.
  if (!varies && !turns.some(({ adds }) => adds))
    expect(output.filter((item) => item.type === "message" && item.status === "incomplete")).toEqual([]);
}

/** The model was shown each result once, and all is counted that the model server told of. */
function checkWhole(body: Response, { scenario, shown, told }: World, recorded: number | null): void {
  const keys = scenario.turns.flatMap(({ calls }, turn) => calls.map((name, index) => `${turn}.${index} ${name}`));
  expect(shown.toSorted()).toEqual(keys.toSorted());
  const sum = told.reduce((total, { tokens }) => total + tokens, 0);
  // The usage of a turn that broke off is estimated.
  const isExact = told.length === scenario.turns.length + 1 && recorded === scenario.turns.length;
  if (isExact) expect(body.usage?.input_tokens).toBe(sum);
  const printed = body.output.flatMap((item) => (item.type === "shell_call_output" ? [item.call_id, item.status] : []));
  const ran = body.output.flatMap((item) =>
    item.type === "shell_call" && item.status === "completed" ? [item.call_id, "completed"] : [],
  );
  expect(printed).toEqual(ran);
  const searches = body.output.filter(({ type }) => type === "web_search_call").length;
  expect(body.tool_usage.web_search.num_requests).toBeGreaterThanOrEqual(searches > 0 ? 1 : 0);
}

test(
  "a response that is cut after any change completes, and no call with effects runs twice",
  async () => {
    verifies(
      "state.crash.tools-go-on",
      "state.crash.idempotent-calls-go-on",
      "state.crash.turns-are-steps",
      "state.crash.open-items-go-on",
      "state.crash.whole-answers-complete",
    );
    await fc.assert(
      fc.asyncProperty(anyScenario, fc.integer({ min: 1, max: 40 }), async (scenario, second) => {
        const whole = await playThrough(scenario, []);
        check(whole);
        const changes = whole.lives[0]?.changes ?? 0;
        for (let death = 1; death < changes; death++)
          for (const deaths of [[death], [death, second]]) {
            check(await playThrough(scenario, deaths));
          }
      }),
      { numRuns: SCENARIOS },
    );
  },
  TIMEOUT_MS,
);
