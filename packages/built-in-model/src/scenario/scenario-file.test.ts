import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/kit/temporary-folder.ts";
import { verifies } from "../../../../tests/verifies.ts";
import { aRequest } from "../request.fixture.ts";
import type { Step } from "../step.ts";
import { findScenario, playScenario } from "./play-scenario.ts";
import { loadScenarioFile, parseScenarioFile } from "./scenario-file.ts";

/** The steps of a file with a single scenario, without the counted usage. */
function play(events: string): readonly Step[] {
  const file = parseScenarioFile(`scenarios: [{ events: [${events}] }]`, "s.yaml");
  const [scenario] = file.scenarios;
  if (scenario === undefined) throw new Error("nothing to play");
  return playScenario(scenario.events, aRequest("Hi")).filter(
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

  test("can be a failure, which ends the answer", () => {
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

  test("is counted for usage if the file gives none", () => {
    const [, , usage] = playScenario([{ text: { chunks: ["a", "b"] } }], aRequest("one two three"));
    expect(usage).toMatchObject({ usage: { inputTokens: 3, outputTokens: 2 } });
  });
});

describe("the played scenario", () => {
  const file = parseScenarioFile(
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
    expect(findScenario(file, request)).toEqual(
      expected === null ? null : expect.objectContaining({ events: [{ text: expected }] }),
    );
  });
});

describe("an invalid file", () => {
  test.each([
    ["[]", "s.yaml: the file should be a mapping, but is a list."],
    ["scenarios: 3", "s.yaml: scenarios should be a list, but is 3."],
    ["models: [m]", "s.yaml: scenarios is missing; expected a list."],
    ["scene: []", "s.yaml: scene is unknown; known keys are models, fallback, scenarios."],
    ["scenarios: []\nfallback: no-one", "s.yaml: fallback should be one of planner, error, but is 'no-one'."],
    ["scenarios: []\nmodels: [m, 3]", "s.yaml: models[1] should be a non-empty text, but is 3."],
    ["scenarios: [{ events: [] }, {}]", "s.yaml: scenarios[1].events is missing; expected a list."],
    [
      "scenarios: [{ when: { turn: 0 }, events: [] }]",
      "s.yaml: scenarios[0].when.turn should be a whole number of at least 1, but is 0.",
    ],
    [
      "scenarios: [{ when: { model: x }, events: [] }]",
      "s.yaml: scenarios[0].when.model should be one of antiphon-built-in, but is 'x'.",
    ],
    [
      "scenarios: [{ when: { input: x }, events: [] }]",
      "s.yaml: scenarios[0].when.input is unknown; known keys are input_contains, context_contains, turn, model, has_tool_output, tool_outputs.",
    ],
    [
      "scenarios: [{ events: [{ text: a }, { call: { arguments: {} } }] }]",
      "s.yaml: scenarios[0].events[1].call.name is missing; expected a non-empty text.",
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
      "s.yaml: scenarios[0].events[0].raw.text is unknown; known keys are type.",
    ],
    [
      "scenarios: [{ events: [{ text: a, delay_ms: 3 }] }]",
      /^s\.yaml: scenarios\[0\]\.events\[0\] should have exactly one of these keys: text, /,
    ],
    [
      "scenarios: [{ events: [{ say: a }] }]",
      /^s\.yaml: scenarios\[0\]\.events\[0\]\.say is unknown; known keys are text, /,
    ],
    [
      "scenarios: [{ events: [{ error: { status: 200, message: m } }] }]",
      "s.yaml: scenarios[0].events[0].error.status should be a whole number from 400 to 599, but is 200.",
    ],
    [
      "scenarios: [{ events: [{ refuse_turn: { message: m } }, { text: a }] }]",
      "s.yaml: scenarios[0].events[1] is not allowed: refuse_turn must be the only event.",
    ],
    [
      "scenarios: [{ events: [{ text: a }, { refuse_turn: { message: m } }] }]",
      "s.yaml: scenarios[0].events[1] is not allowed: refuse_turn must be the only event.",
    ],
    ["scenarios: [", /^s\.yaml: .* at line 1, column 13/s],
  ])("is refused with its place: %s", (text, message) => {
    verifies("builtin-engine.scenario.bad-file-stops-start");
    expect(() => parseScenarioFile(text, "s.yaml")).toThrow(message);
  });

  test("that cannot be read is refused by name", async () => {
    await expect(loadScenarioFile("/nowhere/s.yaml")).rejects.toThrow(
      /^\/nowhere\/s\.yaml: the scenario file cannot be read: ENOENT/,
    );
  });
});

test("errors name the file that was loaded", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "s.yaml");
  await writeFile(file, "scenarios: []\nfallback: error\n");
  expect(await loadScenarioFile(file)).toEqual({ models: [], fallback: "error", scenarios: [] });
  await writeFile(file, "scenarios: {}\n");
  await expect(loadScenarioFile(file)).rejects.toThrow(`${file}: scenarios should be a list, but is a mapping.`);
  await rm(folder, { recursive: true });
});

test("the example in the documentation is valid", async () => {
  const page = await readFile(new URL("../../../../docs/built-in-engine.md", import.meta.url), "utf8");
  const file = parseScenarioFile(/```yaml\n# scenes.yaml\n(.*?)```/s.exec(page)?.[1] ?? "", "built-in-engine.md");
  expect(file.models).toEqual(["my-model"]);
  const isRefusal = file.scenarios.map(({ events }) => events[0]?.refuse_turn !== undefined);
  expect(isRefusal).toEqual([false, false, false, false, true]);
});
