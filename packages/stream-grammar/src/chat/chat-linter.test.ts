import { expect, test } from "vitest";
import { lintText } from "../index.ts";
import type { RuleName } from "../rules.ts";

const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };

function chunk(delta: object, finish: string | null = null, more: object = {}): object {
  return { ...HEAD, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...more };
}

const BEGIN = chunk({ role: "assistant", content: "" });
const TEXT = chunk({ content: "Hello" });
const END = chunk({}, "stop");
const CALL = chunk({
  tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "a", arguments: "" } }],
});
const PIECE = chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] });
const USAGE = { ...HEAD, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };

type Part = object | string;

function rulesOf(...parts: readonly Part[]): RuleName[] {
  const text = parts.map((part) => `data: ${typeof part === "string" ? part : JSON.stringify(part)}\n\n`).join("");
  return [...new Set(lintText(text).flatMap(({ faults }) => faults.map(({ rule }) => rule)))];
}

const withNull = (part: object): object => ({ ...part, usage: null });

test.each<[string, readonly Part[]]>([
  ["a text", [BEGIN, TEXT, END, "[DONE]"]],
  ["a call after a text", [BEGIN, TEXT, CALL, PIECE, chunk({}, "tool_calls"), "[DONE]"]],
  ["a call that is cut", [BEGIN, CALL, chunk({}, "length"), "[DONE]"]],
  ["the usage at the end", [...[BEGIN, TEXT, END].map(withNull), USAGE, "[DONE]"]],
  ["a failure", [BEGIN, TEXT, { error: { message: "Broken." } }]],
])("a legal chat stream breaks no rule: %s", (_, parts) => {
  expect(rulesOf(...parts)).toEqual([]);
});

test.each<[string, readonly Part[], RuleName]>([
  ["no [DONE]", [BEGIN, TEXT, END], "chat-done"],
  ["data after [DONE]", [BEGIN, TEXT, END, "[DONE]", TEXT], "chat-done"],
  ["[DONE] after a failure", [BEGIN, { error: { message: "Broken." } }, "[DONE]"], "chat-done"],
  ["another id", [BEGIN, { ...TEXT, id: "chatcmpl-2" }, END, "[DONE]"], "chat-head"],
  ["no role", [TEXT, END, "[DONE]"], "chat-role"],
  ["no reason", [BEGIN, TEXT, "[DONE]"], "chat-finish"],
  ["two reasons", [BEGIN, TEXT, END, END, "[DONE]"], "chat-finish"],
  ["a reason with a text", [BEGIN, chunk({ content: "Hi" }, "stop"), "[DONE]"], "chat-finish"],
  ["stop after a call", [BEGIN, CALL, PIECE, END, "[DONE]"], "chat-finish"],
  ["a call without its beginning", [BEGIN, PIECE, chunk({}, "tool_calls"), "[DONE]"], "chat-call"],
  ["a usage that nobody asked for", [BEGIN, { ...TEXT, usage: {} }, END, "[DONE]"], "chat-usage"],
  ["a usage before the end", [...[BEGIN, TEXT].map(withNull), USAGE, withNull(END), "[DONE]"], "chat-usage"],
  ["no usage", [...[BEGIN, TEXT, END].map(withNull), "[DONE]"], "chat-usage"],
  ["a text that is none", [BEGIN, chunk({ content: 7 }), END, "[DONE]"], "chat-delta"],
  ["something else", [BEGIN, { hello: 1 }, END, "[DONE]"], "chat-chunk"],
])("a broken chat stream is named: %s", (_, parts, rule) => {
  expect(rulesOf(...parts)).toContain(rule);
});

test("a chat frame has no event line", () => {
  const text = `event: message\ndata: ${JSON.stringify(BEGIN)}\n\n`;
  expect(lintText(text)[0]?.faults.map(({ rule }) => rule)).toContain("chat-chunk");
});
