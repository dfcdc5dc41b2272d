import { expect, test } from "vitest";
import { lintText } from "../index.ts";
import type { RuleName } from "../rules.ts";

type Part = Readonly<Record<string, unknown>>;

const START = {
  type: "message_start",
  message: {
    id: "msg_1",
    role: "assistant",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 1, output_tokens: 0 },
  },
};
const STOP = { type: "message_stop" };

function block(index: number, content: object): Part {
  return { type: "content_block_start", index, content_block: content };
}

function delta(index: number, content: object): Part {
  return { type: "content_block_delta", index, delta: content };
}

function stop(index: number): Part {
  return { type: "content_block_stop", index };
}

function end(reason: string, more: object = { stop_sequence: null }): Part {
  return { type: "message_delta", delta: { stop_reason: reason, ...more }, usage: { output_tokens: 1 } };
}

const TEXT = [
  block(0, { type: "text", text: "", citations: null }),
  delta(0, { type: "text_delta", text: "Hi" }),
  stop(0),
];
const CALL = block(0, { type: "tool_use", id: "call_1", name: "a", input: {} });
const INPUT = delta(0, { type: "input_json_delta", partial_json: "{}" });
const SEARCH = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const FOUND = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };

function rulesOf(parts: readonly Part[], nameOf = (part: Part): unknown => part["type"]): RuleName[] {
  const text = parts.map((part) => `event: ${nameOf(part)}\ndata: ${JSON.stringify(part)}\n\n`).join("");
  return [...new Set(lintText(text).flatMap(({ faults }) => faults.map(({ rule }) => rule)))];
}

test.each<[string, readonly Part[]]>([
  ["a text", [START, ...TEXT, end("end_turn"), STOP]],
  ["a ping", [START, { type: "ping" }, ...TEXT, end("end_turn"), STOP]],
  ["a stop sequence", [START, ...TEXT, end("stop_sequence", { stop_sequence: "END" }), STOP]],
  ["a call", [START, CALL, INPUT, stop(0), end("tool_use"), STOP]],
  ["a search", [START, block(0, SEARCH), stop(0), block(1, FOUND), stop(1), end("end_turn"), STOP]],
  ["a failure", [START, ...TEXT, { type: "error", error: { type: "api_error", message: "Broken." } }]],
])("a legal stream of a message breaks no rule: %s", (_, parts) => {
  expect(rulesOf(parts)).toEqual([]);
});

test.each<[string, readonly Part[], RuleName]>([
  ["no message_stop", [START, ...TEXT, end("end_turn")], "messages-end"],
  ["an event after the end", [START, ...TEXT, end("end_turn"), STOP, { type: "ping" }], "messages-end"],
  ["a second start", [START, START, ...TEXT, end("end_turn"), STOP], "messages-start"],
  [
    "a block that begins at 1",
    [START, block(1, { type: "text", text: "" }), stop(0), end("end_turn"), STOP],
    "messages-block",
  ],
  ["a block within another one", [START, ...TEXT.slice(0, 2), CALL, end("tool_use"), STOP], "messages-block"],
  [
    "a text that does not begin empty",
    [START, block(0, { type: "text", text: "a" }), stop(0), end("end_turn"), STOP],
    "messages-block",
  ],
  [
    "a delta of another block",
    [START, CALL, delta(0, { type: "text_delta", text: "a" }), stop(0), end("tool_use"), STOP],
    "messages-delta",
  ],
  ["an input that is no JSON", [START, CALL, INPUT, INPUT, stop(0), end("tool_use"), STOP], "messages-input"],
  ["a result without a call", [START, block(0, FOUND), stop(0), end("end_turn"), STOP], "messages-result"],
  ["end_turn after a call", [START, CALL, INPUT, stop(0), end("end_turn"), STOP], "messages-reason"],
  ["no stop sequence", [START, ...TEXT, end("stop_sequence"), STOP], "messages-reason"],
  ["an unknown event", [START, { type: "message_pause" }, ...TEXT, end("end_turn"), STOP], "messages-event"],
])("a stream of a message with a fault breaks its rule: %s", (_, parts, rule) => {
  expect(rulesOf(parts)).toContain(rule);
});

test("an event line that is not the type breaks a rule", () => {
  expect(rulesOf([START, ...TEXT, end("end_turn"), STOP], () => "message_start")).toContain("messages-name");
});
