import type { InputItem, Tool } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { planAnswer } from "../plan-answer.ts";
import { aFunction, aRequest, outline, spoken, WEATHER } from "../request.fixture.ts";
import { writeCustomInput } from "./plan-calls.ts";

const TIME = aFunction("get_time", "Tells the time of day in a city.", { city: { type: "string" } });
const EMAIL = aFunction("sendEmail", "Sends a letter.", {
  to: { type: "string", format: "email" },
  urgent: { type: "boolean" },
});
const ADD = aFunction("add", "Adds numbers.", { a: { type: "number" }, b: { type: "number" } });
const CODE: Tool = { type: "custom", name: "run_code", description: "Runs code.", format: { type: "text" } };

/** The calls as `name(input)`; empty if the answer is text. */
function callsOf(input: string | readonly (string | InputItem)[], changes: Partial<ModelRequest>): string {
  const steps = planAnswer(aRequest(input, changes));
  return steps
    .map((step) => {
      if (step.type === "call_started")
        return `${step.namespace === undefined ? "" : `${step.namespace}.`}${step.name}(`;
      return step.type === "call_delta" ? step.text : step.type === "call_finished" ? ")" : "";
    })
    .join("");
}

test.each<[string, readonly Tool[], string]>([
  ["What is the weather in Paris?", [TIME, WEATHER], 'get_weather({"city":"Paris"})'],
  ["what's the weather in paris", [WEATHER], 'get_weather({"city":"paris"})'],
  ["Tell me the time in New York", [WEATHER, TIME], 'get_time({"city":"New York"})'],
  ["Send an email to ada@example.com", [EMAIL], 'sendEmail({"to":"ada@example.com","urgent":true})'],
  ["Please write a letter and send it", [EMAIL], 'sendEmail({"to":"user@example.com","urgent":true})'],
  ["Add 2 and 3.5", [ADD], 'add({"a":2,"b":3.5})'],
  ["Hello!", [WEATHER, TIME, EMAIL, ADD, CODE], ""],
  ["Run this code:\n```python\nprint(1)\n```", [CODE], "run_code(print(1))"],
])("a tool is called when the message plainly asks for it: %s", (input, tools, calls) => {
  expect(callsOf(input, { tools })).toBe(calls);
});

test("several values for a function with one text parameter are several calls if parallel calls are allowed", () => {
  const input = "Compare the weather in Paris, New York and São Paulo";
  const calls = ["Paris", "New York", "São Paulo"].map((city) => `get_weather({"city":"${city}"})`);
  expect(callsOf(input, { tools: [WEATHER] })).toBe(calls.join(""));
  expect(callsOf(input, { tools: [WEATHER], parallelToolCalls: false })).toBe(calls[0]);
});

test("a forced tool is called for any message", () => {
  verifies("builtin-engine.answers.calls-offered-tools");
  const tools = [WEATHER, ADD, CODE];
  expect(callsOf("Hello 7", { tools, toolChoice: { type: "function", name: "add" } })).toBe('add({"a":7,"b":1})');
  expect(callsOf("Hello", { tools, toolChoice: { type: "custom", name: "run_code" } })).toBe("run_code(Hello)");
  expect(callsOf("Hello Rome", { tools, toolChoice: "required" })).toBe('get_weather({"city":"Hello Rome"})');
  const allowed = { type: "allowed_tools", tools: [{ type: "function", name: "add" }] } as const;
  expect(
    callsOf("weather in Rome", { tools, toolChoice: { ...allowed, mode: "required", tools: [...allowed.tools] } }),
  ).toBe('add({"a":1,"b":1})');
  expect(
    callsOf("weather in Rome", { tools, toolChoice: { ...allowed, mode: "auto", tools: [...allowed.tools] } }),
  ).toBe("");
});

test("no tool is called if tool_choice is none", () => {
  expect(callsOf("weather in Rome", { tools: [WEATHER], toolChoice: "none" })).toBe("");
});

test("a tool of a namespace is called by namespace and name", () => {
  const tools: Tool[] = [
    { type: "namespace", name: "crm", description: "Customers.", tools: [{ ...CODE, name: "find_customer" }] },
  ];
  expect(callsOf("find customer 12", { tools })).toBe("crm.find_customer(find customer 12)");
});

test("a client-run tool search is called, and a tool that it found is called by namespace and name", () => {
  const parameters = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
  const search: Tool = { type: "tool_search", execution: "client", description: "Finds further tools.", parameters };
  const input = 'Use tool_search for "weather"';
  expect(planAnswer(aRequest(input, { tools: [search] }))).toContainEqual({
    type: "tool_search",
    callId: null,
    arguments: { query: "weather" },
  });
  const found: InputItem[] = [
    { type: "tool_search_call", call_id: "call_1", execution: "client", arguments: { query: "weather" } },
    { type: "tool_search_output", call_id: "call_1", execution: "client", tools: [WEATHER] },
  ];
  expect(callsOf([input, ...found], { tools: [search] })).toBe("");
  const joined: Tool = { type: "namespace", name: "get_weather", description: "", tools: [WEATHER] };
  expect(callsOf([input, ...found, "What is the weather in Paris?"], { tools: [search, joined] })).toBe(
    'get_weather.get_weather({"city":"Paris"})',
  );
});

test("tool outputs are reported instead of calling the tool again", () => {
  const items: (string | InputItem)[] = [
    "weather in Paris and Rome",
    { type: "function_call", call_id: "call_1", name: "get_weather", arguments: "{}" },
    { type: "custom_tool_call", call_id: "call_2", name: "run_code", input: "" },
    { type: "function_call_output", call_id: "call_1", output: "18 degrees" },
    {
      type: "custom_tool_call_output",
      call_id: "call_2",
      output: [
        { type: "input_text", text: "done" },
        { type: "input_image", image_url: "data:," },
      ],
    },
    { type: "message", role: "developer", content: "Be brief." },
  ];
  const steps = planAnswer(aRequest(items, { tools: [WEATHER] }));
  expect(spoken(steps)).toBe("get_weather returned: 18 degrees\nrun_code returned: done\n[image]");
  expect(callsOf([...items, "And the weather in Oslo?"], { tools: [WEATHER] })).toBe('get_weather({"city":"Oslo"})');
});

test("a call comes after the reasoning", () => {
  const steps = planAnswer(
    aRequest("weather in Rome", { tools: [WEATHER], reasoning: { effort: "low", summary: null } }),
  );
  expect(outline(steps)).toBe("reasoning_delta call_started call_delta call_finished usage stop");
});

test.each<[Partial<ModelRequest>, string]>([
  [
    { tools: [WEATHER, { type: "computer" }] },
    "tools[1] unsupported_parameter Tools of type 'computer' are not available with the built-in engine.",
  ],
  [
    { tools: [WEATHER], toolChoice: { type: "function", name: "gone" } },
    "tool_choice null Tool choice 'gone' not found in 'tools' parameter.",
  ],
  [
    { tools: [WEATHER], toolChoice: { type: "shell" } },
    "tool_choice unsupported_parameter Tool choice 'shell' is not available with the built-in engine.",
  ],
  [{ toolChoice: "required" }, "tool_choice null Tool choice 'required' must be specified with 'tools' parameter."],
])("tools that nobody can call are refused: %j", (changes, expected) => {
  try {
    planAnswer(aRequest("Hello", changes));
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ name: "ModelError", status: 400, type: "invalid_request_error" });
    const { param, code, message } = Object(error);
    expect(`${param} ${code} ${message}`).toBe(expected);
  }
});

const lark = (definition: string): string => writeCustomInput({ syntax: "lark", definition }, "the message");

test("a custom tool with a regular expression gets an input that matches it", () => {
  const definition = String.raw`^(?P<month>January|February) (?P<day>\d{1,2})(st|nd) at (1[0-2]|[1-9])(AM|PM)$`;
  expect(writeCustomInput({ syntax: "regex", definition }, "the message")).toBe("January 9st at 12AM");
});

test("a custom tool with a Lark grammar gets its smallest sentence", () => {
  const grammar = `
    // A tiny query language.
    start: select ";"
    select: "SELECT" columns "FROM" NAME where?
    columns: NAME ("," NAME)*
    where: "WHERE" NAME "=" (NUMBER | ESCAPED_STRING)
    NAME: /[a-z_]+/
    %import common (NUMBER, ESCAPED_STRING, WS)
    %ignore WS`;
  expect(lark(grammar)).toBe("SELECT a FROM a ;");
});

test("a recursive Lark grammar gets a finite sentence", () => {
  expect(
    lark(
      'start: sum\nsum: sum "+" product\n  | product\nproduct: product "*" atom | atom\natom: "(" sum ")" | INT -> number\n%import common.INT',
    ),
  ).toBe("1");
  expect(lark('start: "a"~3 ["b"] "c"+ ("x".."z")')).toBe("aaacx");
});

test.each(["start: start", 'other: "a"', "start: MISSING", "start: /(?=a)b/"])(
  "a custom tool gets the message if its grammar gives no sentence: %s",
  (definition) => {
    expect(lark(definition)).toBe("the message");
  },
);
