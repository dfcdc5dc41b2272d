import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { aRequest } from "../request.fixture.ts";
import type { Step } from "../step.ts";
import { loadScenario, parseScenario } from "./parse-scenario.ts";
import { findScene, playScene } from "./play-scene.ts";

/** What the events of a file's only scene play, without the counted usage. */
function play(events: string): readonly Step[] {
  const scenario = parseScenario(`scenarios: [{ events: [${events}] }]`, "s.yaml");
  const script = scenario.scenes[0]?.script;
  if (script?.type !== "played") throw new Error("nothing to play");
  return playScene(script.lines, aRequest("Hi")).filter(
    (step) => step.type !== "usage" || step.usage.inputTokens === 99,
  );
}

describe("an event of a scenario", () => {
  const stop = { type: "finished", reason: "stop" };
  test.each<[string, unknown[]]>([
    ["text: Hello world", [{ type: "text_delta", text: "Hello" }, { type: "text_delta", text: " world" }, stop]],
    ["text: { chunks: [Hel, lo] }", [{ type: "text_delta", text: "Hel" }, { type: "text_delta", text: "lo" }, stop]],
    ["refusal: No way", [{ type: "refusal_delta", text: "No" }, { type: "refusal_delta", text: " way" }, stop]],
    ["reasoning: Hm", [{ type: "reasoning_delta", text: "Hm" }, stop]],
    [
      "reasoning_summary: [One, Two]",
      [
        { type: "reasoning_summary_delta", text: "One" },
        { type: "reasoning_summary_break" },
        { type: "reasoning_summary_delta", text: "Two" },
        stop,
      ],
    ],
    [
      "call: { name: f, call_id: call_1, namespace: n, arguments: { a: [1] }, chunks: 2 }",
      [
        { type: "call_started", kind: "function", callId: "call_1", name: "f", namespace: "n" },
        { type: "call_delta", text: '{"a":' },
        { type: "call_delta", text: "[1]}" },
        { type: "call_finished" },
        stop,
      ],
    ],
    [
      "call: { name: f, arguments: '{broken', chunks: 1 }",
      [
        { type: "call_started", kind: "function", callId: null, name: "f" },
        { type: "call_delta", text: "{broken" },
        { type: "call_finished" },
        stop,
      ],
    ],
    [
      "custom_call: { name: c, input: go }",
      [
        { type: "call_started", kind: "custom", callId: null, name: "c" },
        { type: "call_delta", text: "go" },
        { type: "call_finished" },
        stop,
      ],
    ],
    ["message: { phase: commentary }", [{ type: "message_started", phase: "commentary" }, stop]],
    [
      "annotation: { type: url_citation, start_index: 0, end_index: 4, url: 'https://a.example', title: A }",
      [
        {
          type: "annotation",
          annotation: { type: "url_citation", start_index: 0, end_index: 4, url: "https://a.example", title: "A" },
        },
        stop,
      ],
    ],
    [
      "usage: { input_tokens: 99, output_tokens: 2 }",
      [
        {
          type: "usage",
          usage: { inputTokens: 99, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 2, reasoningTokens: 0 },
        },
        stop,
      ],
    ],
    ["finish: content_filter", [{ type: "finished", reason: "content_filter" }]],
    ["finish: none", []],
    ["delay_ms: 20", [{ type: "pause", ms: 20 }, stop]],
    [
      "raw: { type: text_delta, text: x, logprobs: [{ token: x, logprob: -1 }] }",
      [
        { type: "text_delta", text: "x", logprobs: [{ token: "x", bytes: [120], logprob: -1, top_logprobs: [] }] },
        stop,
      ],
    ],
    [
      "raw: { type: call_started, kind: custom, callId: null, name: c }",
      [{ type: "call_started", kind: "custom", callId: null, name: "c" }, stop],
    ],
  ])("%s", (event, steps) => {
    verifies("builtin-engine.scenario.plays-a-file");
    expect(play(`{ ${event} }`)).toEqual(steps);
  });

  test("may be a failure, after which nothing comes", () => {
    expect(
      play("{ text: Oh }, { error: { status: 503, message: Gone., type: server_error, code: overloaded } }"),
    ).toMatchObject([
      { type: "text_delta", text: "Oh" },
      {
        type: "failure",
        error: { status: 503, message: "Gone.", type: "server_error", code: "overloaded", param: null },
      },
    ]);
  });

  test("is counted where the file counts nothing", () => {
    const [, , usage] = playScene([{ type: "text", pieces: ["a", "b"] }], aRequest("one two three"));
    expect(usage).toMatchObject({ usage: { inputTokens: 3, outputTokens: 2 } });
  });
});

describe("the scene", () => {
  const scenario = parseScenario(
    `
models: [m]
scenarios:
  - { when: { input_contains: Weather, has_tool_output: false }, events: [{ text: asks }] }
  - { when: { tool_outputs: 2 }, events: [{ text: compares }] }
  - { when: { has_tool_output: true }, events: [{ text: reports }] }
  - { when: { context_contains: Earlier, turn: 2 }, events: [{ text: remembers }] }
  - { when: { turn: 2 }, events: [{ text: second }] }
  - { when: { model: m }, events: [{ text: other }] }
`,
    "s.yaml",
  );
  const output = { type: "function_call_output", call_id: "c", output: "18" } as const;
  test.each([
    ["asks", aRequest("the weather?")],
    ["reports", aRequest(["the weather?", output])],
    ["compares", aRequest(["the weather?", output, output])],
    ["second", aRequest(["one", "two"])],
    ["remembers", aRequest(["one said earlier", "two"])],
    ["other", aRequest("one", { model: "m" })],
    [null, aRequest("one")],
  ])("is the first whose conditions all hold: %s", (expected, request) => {
    expect(findScene(scenario, request)).toEqual(
      expected === null
        ? null
        : expect.objectContaining({ script: { type: "played", lines: [{ type: "text", pieces: [expected] }] } }),
    );
  });
});

describe("a file that does not fit", () => {
  test.each([
    ["[]", "s.yaml: the file should be a mapping, but is a list."],
    ["scenarios: 3", "s.yaml: scenarios should be a list, but is 3."],
    ["models: [m]", "s.yaml: scenarios is missing; expected a list."],
    ["scene: []", "s.yaml: scene is not known here; known are models, fallback, scenarios."],
    ["scenarios: []\nfallback: no-one", "s.yaml: fallback should be one of planner, error, but is 'no-one'."],
    ["scenarios: []\nmodels: [m, 3]", "s.yaml: models[1] should be a text with something in it, but is 3."],
    ["scenarios: [{ events: [] }, {}]", "s.yaml: scenarios[1].events is missing; expected a list."],
    [
      "scenarios: [{ when: { turn: 0 }, events: [] }]",
      "s.yaml: scenarios[0].when.turn should be a whole number from 1 on, but is 0.",
    ],
    [
      "scenarios: [{ when: { model: x }, events: [] }]",
      "s.yaml: scenarios[0].when.model should be one of antiphon-built-in, but is 'x'.",
    ],
    [
      "scenarios: [{ when: { input: x }, events: [] }]",
      "s.yaml: scenarios[0].when.input is not known here; known are input_contains, context_contains, turn, model, has_tool_output, tool_outputs.",
    ],
    [
      "scenarios: [{ events: [{ text: a }, { call: { arguments: {} } }] }]",
      "s.yaml: scenarios[0].events[1].call.name is missing; expected a text with something in it.",
    ],
    [
      "scenarios: [{ events: [{ text: [a] }] }]",
      "s.yaml: scenarios[0].events[0].text should be a text or {chunks: […]}, but is a list.",
    ],
    [
      "scenarios: [{ events: [{ delay_ms: -1 }] }]",
      "s.yaml: scenarios[0].events[0].delay_ms should be a whole number from 0 to 600000, but is -1.",
    ],
    [
      "scenarios: [{ events: [{ finish: done }] }]",
      "s.yaml: scenarios[0].events[0].finish should be one of stop, length, content_filter, none, but is 'done'.",
    ],
    [
      "scenarios: [{ events: [{ raw: { type: tool } }] }]",
      /^s\.yaml: scenarios\[0\]\.events\[0\]\.raw\.type should be one of model_resolved, /,
    ],
    [
      "scenarios: [{ events: [{ raw: { type: call_finished, text: x } }] }]",
      "s.yaml: scenarios[0].events[0].raw.text is not known here; known are type.",
    ],
    [
      "scenarios: [{ events: [{ text: a, delay_ms: 3 }] }]",
      /^s\.yaml: scenarios\[0\]\.events\[0\] should have exactly one of the keys text, /,
    ],
    [
      "scenarios: [{ events: [{ say: a }] }]",
      /^s\.yaml: scenarios\[0\]\.events\[0\]\.say is not known here; known are text, /,
    ],
    [
      "scenarios: [{ events: [{ error: { status: 200, message: m } }] }]",
      "s.yaml: scenarios[0].events[0].error.status should be a whole number from 400 to 599, but is 200.",
    ],
    [
      "scenarios: [{ events: [{ refuse_turn: { message: m } }, { text: a }] }]",
      "s.yaml: scenarios[0].events[1] has no place here: nothing follows refuse_turn.",
    ],
    [
      "scenarios: [{ events: [{ text: a }, { refuse_turn: { message: m } }] }]",
      "s.yaml: scenarios[0].events[1] comes too late: refuse_turn must be the only event.",
    ],
    ["scenarios: [", /^s\.yaml: .* at line 1, column 13/s],
  ])("is refused with its place: %s", (text, message) => {
    verifies("builtin-engine.scenario.bad-file-stops-start");
    expect(() => parseScenario(text, "s.yaml")).toThrow(message);
  });

  test("is refused with its name when it cannot be read", async () => {
    await expect(loadScenario("/nowhere/s.yaml")).rejects.toThrow(
      /^\/nowhere\/s\.yaml: the scenario file cannot be read: ENOENT/,
    );
  });
});

test("a file is read with its name", async () => {
  const folder = await mkdtemp(join(tmpdir(), "scenario-"));
  const file = join(folder, "s.yaml");
  await writeFile(file, "scenarios: []\nfallback: error\n");
  expect(await loadScenario(file)).toEqual({ models: [], fallback: "error", scenes: [] });
  await writeFile(file, "scenarios: {}\n");
  await expect(loadScenario(file)).rejects.toThrow(`${file}: scenarios should be a list, but is a mapping.`);
  await rm(folder, { recursive: true });
});

test("the example of the documentation can be played", async () => {
  const page = await readFile(new URL("../../../../docs/built-in-engine.md", import.meta.url), "utf8");
  const scenario = parseScenario(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? "", "built-in-engine.md");
  expect(scenario.models).toEqual(["my-model"]);
  expect(scenario.scenes.map(({ script }) => script.type)).toEqual(["played", "played", "played", "played", "refused"]);
});
