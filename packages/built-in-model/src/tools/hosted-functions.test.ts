import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedFunction } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { planAnswer } from "../plan-answer.ts";
import { aRequest, says, spoken, WEATHER } from "../request.fixture.ts";
import { findScenario, playScenario } from "../scenario/play-scenario.ts";
import { parseScenarioFile } from "../scenario/scenario-file.ts";
import type { Step } from "../step.ts";

const hosted = (
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  server: string | null = null,
): HostedFunction => ({
  type: "hosted_function",
  name,
  server,
  description,
  parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
});

const SEARCH = hosted("web_search", "Searches the web and returns numbered hits.", {
  queries: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 4 },
});
const OPEN = hosted("open_page", "Opens a page.", { url: { type: "string", format: "uri" } });
const TIDES = hosted("tides", "Tells the tides at a place.", { place: { type: "string" } }, "sea");

/** The calls as `kind server.name(arguments)`. */
function callsIn(steps: readonly Step[]): string {
  return steps
    .map((step) => {
      if (step.type === "call_started")
        return `${step.kind} ${step.namespace === undefined ? "" : `${step.namespace}.`}${step.name}(`;
      return step.type === "call_delta" ? step.text : step.type === "call_finished" ? ")" : "";
    })
    .join("");
}

function callsOf(text: string, changes: Partial<ModelRequest>): string {
  return callsIn(planAnswer(aRequest(text, changes)));
}

const asked = (text: string, ...items: readonly ContextItem[]): ModelRequest => ({
  ...aRequest([], { tools: [SEARCH, OPEN, TIDES] }),
  items: [says(text), ...items],
});
const called: ContextItem = {
  type: "hosted_call",
  callId: "call_1",
  name: "web_search",
  server: null,
  arguments: "{}",
};
const returned = (output: string): ContextItem => ({ type: "hosted_output", callId: "call_1", output, parts: [] });

describe("a hosted function", () => {
  test("is called when the message plainly asks for it, with arguments that fit", () => {
    const tools = [SEARCH, OPEN, TIDES, WEATHER];
    expect(callsOf('Use web_search to find "tide tables"', { tools })).toBe(
      'hosted web_search({"queries":["tide tables"]})',
    );
    expect(callsOf("What are the tides in Cork?", { tools })).toBe('hosted sea.tides({"place":"Cork"})');
    expect(callsOf("weather in Cork", { tools })).toBe('function get_weather({"city":"Cork"})');
    expect(callsOf("Hello!", { tools })).toBe("");
  });

  test("is called when it is forced", () => {
    const tools = [WEATHER, OPEN, hosted("tides", "", {}, "river"), TIDES];
    const choice = { type: "hosted_function", name: "tides", server: "sea" } as const;
    expect(callsOf("Hello Cork", { tools, toolChoice: choice })).toMatch(/^hosted sea\.tides\(/);
    expect(
      callsOf("Hello", { tools, toolChoice: { type: "allowed_tools", mode: "required", tools: [choice] } }),
    ).toMatch(/^hosted sea\.tides\(/);
    expect(() => callsOf("Hello", { tools, toolChoice: { ...choice, server: null } })).toThrow(
      "Tool choice 'tides' not found in 'tools' parameter.",
    );
  });

  test("is answered from: the output without its fence, and its first source cited", () => {
    const fenced = '<result of="web_search" mark="9f2c">\n[web:2] Tides of Cork\nHigh at noon.\n</result mark="9f2c">';
    expect(spoken(planAnswer(asked("Use web_search for tides", called, returned(fenced))))).toBe(
      "web_search returned: [web:2] Tides of Cork\nHigh at noon.【web:2】",
    );
    expect(spoken(planAnswer(asked("Use web_search for tides", called, returned("Nothing was found."))))).toBe(
      "web_search returned: Nothing was found.",
    );
  });

  test("counts in the usage of a turn by what it was given and what it returned", () => {
    const inputTokens = (request: ModelRequest): number => {
      const usage = planAnswer(request).find((step) => step.type === "usage");
      return usage?.type === "usage" ? usage.usage.inputTokens : 0;
    };
    const before = inputTokens(asked("Hello"));
    expect(inputTokens(asked("Hello", called, returned("one two three")))).toBe(before + 2 + 3);
  });
});

describe("a tool that the client ran", () => {
  const exit = { type: "exit", exit_code: 0 } as const;
  const shot = { type: "computer_screenshot", image_url: "data:image/png;base64,AAAA" } as const;
  test.each<[InputItem, string]>([
    [
      { type: "shell_call_output", call_id: "call_1", output: [{ stdout: "a.txt", stderr: "oh", outcome: exit }] },
      "shell returned: a.txt\noh",
    ],
    [{ type: "local_shell_call_output", id: "lsh_1", output: "a.txt" }, "local_shell returned: a.txt"],
    [
      { type: "apply_patch_call_output", call_id: "call_1", status: "failed", output: "no such file" },
      "apply_patch returned: no such file",
    ],
    [{ type: "apply_patch_call_output", call_id: "call_1", status: "completed" }, "apply_patch returned: completed"],
    [{ type: "computer_call_output", call_id: "call_1", output: shot }, "computer returned: [image]"],
  ])("is answered from: %j", (output, answer) => {
    expect(spoken(planAnswer(asked("Use the shell, computer or patch", output)))).toBe(answer);
  });
});

describe("a scenario", () => {
  const file = parseScenarioFile(
    `
scenarios:
  - when: { has_tool_output: false }
    events:
      - call: { name: web_search, arguments: { queries: [tides] }, chunks: 1 }
      - call: { name: tides, namespace: sea, chunks: 1 }
      - call: { name: tides, namespace: lake, chunks: 1 }
      - call: { name: get_weather, chunks: 1 }
      - raw: { type: call_started, kind: hosted, callId: call_9, name: open_page }
  - when: { tool_outputs: 1 }
    events:
      - text: High at noon.【web:1】
`,
    "test.yaml",
  );
  const playedFor = (request: ModelRequest): readonly Step[] => {
    const found = findScenario(file, request);
    if (found === null) throw new Error("no scenario fits");
    return playScenario(found.events, request);
  };

  test("calls a hosted function by its name alone", () => {
    expect(callsIn(playedFor({ ...asked("Go"), tools: [SEARCH, TIDES, WEATHER] }))).toBe(
      'hosted web_search({"queries":["tides"]})hosted sea.tides({})function lake.tides({})function get_weather({})' +
        "hosted open_page(",
    );
  });

  test("means the client's function if both have the name", () => {
    const own = { ...WEATHER, name: "web_search" };
    expect(callsIn(playedFor({ ...asked("Go"), tools: [SEARCH, own] }))).toMatch(/^function web_search\(/);
  });

  test("hears outputs of hosted functions in its conditions", () => {
    expect(spoken(playedFor(asked("Go", called, returned("a"))))).toBe("High at noon.【web:1】");
  });
});
