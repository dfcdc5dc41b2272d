import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL } from "./check-refusal.ts";
import { checkStreamLaws } from "./check-stream-laws.ts";
import { type ReadStream, readResponse, readStream, withoutRandomParts } from "./read-stream.ts";

/** What the model says, as in scenario files, and the resulting events without `response.` and the common prefix. */
interface Case {
  readonly says: readonly object[];
  readonly members?: object;
  readonly order: readonly string[];
  readonly end?: string;
}

const times = (count: number, type: string): string[] => Array.from({ length: count }, () => type);
const message = (...inner: readonly string[]): string[] => [
  "output_item.added",
  "content_part.added",
  ...inner,
  "output_text.done",
  "content_part.done",
  "output_item.done",
];
const text = (deltas: number): string[] => message(...times(deltas, "output_text.delta"));
const summaryPart = (deltas: number): string[] => [
  "reasoning_summary_part.added",
  ...times(deltas, "reasoning_summary_text.delta"),
  "reasoning_summary_text.done",
  "reasoning_summary_part.done",
];
const call = (deltas: number): string[] => [
  "output_item.added",
  ...times(deltas, "function_call_arguments.delta"),
  "function_call_arguments.done",
  "output_item.done",
];

const cite = { type: "url_citation", start_index: 0, end_index: 3, url: "https://example.com/a", title: "A" };
const two = { chunks: ["Hel", "lo"] };
const f = { type: "function", name: "f", strict: false, parameters: { type: "object", properties: {} } };
const withTools = { tools: [f, { type: "custom", name: "c" }] };

const CASES: Readonly<Record<string, Case>> = {
  "a text": { says: [{ text: two }], order: text(2) },
  "a text without a word has no delta": { says: [{ message: {} }, { finish: "stop" }], order: text(0) },
  "a model that says nothing still gives a message": { says: [{ finish: "stop" }], order: text(0) },
  "annotations follow the delta that they end": {
    says: [{ text: { chunks: ["one"] } }, { annotation: cite }, { text: { chunks: ["two"] } }, { annotation: cite }],
    order: message(
      "output_text.delta",
      "output_text.annotation.added",
      "output_text.delta",
      "output_text.annotation.added",
    ),
  },
  "a refusal is a part of its own": {
    says: [{ refusal: { chunks: ["I can", "not."] } }],
    order: [
      "output_item.added",
      "content_part.added",
      ...times(2, "refusal.delta"),
      "refusal.done",
      "content_part.done",
      "output_item.done",
    ],
  },
  "commentary and answer are two messages": {
    says: [
      { message: { phase: "commentary" } },
      { text: two },
      { message: { phase: "final_answer" } },
      { text: { chunks: ["Done"] } },
    ],
    order: [...text(2), ...text(1)],
  },
  "a reasoning summary of two parts": {
    says: [{ reasoning_summary: ["First", "Second"] }, { text: two }],
    members: { reasoning: { summary: "detailed" } },
    order: ["output_item.added", ...summaryPart(1), ...summaryPart(1), "output_item.done", ...text(2)],
  },
  "raw reasoning": {
    says: [{ reasoning: { chunks: ["Hm", "m"] } }, { text: two }],
    order: [
      "output_item.added",
      "content_part.added",
      ...times(2, "reasoning_text.delta"),
      "reasoning_text.done",
      "content_part.done",
      "output_item.done",
      ...text(2),
    ],
  },
  "a function call": {
    says: [{ call: { name: "f", call_id: "call_1", arguments: { city: "Rome" }, chunks: 3 } }],
    members: withTools,
    order: call(3),
  },
  "arguments that are empty come as one delta": {
    says: [{ call: { name: "f", arguments: {} } }],
    members: withTools,
    order: call(1),
  },
  "parallel calls come one after the other": {
    says: [
      { call: { name: "f", call_id: "call_1", arguments: { a: 1 }, chunks: 2 } },
      { call: { name: "f", call_id: "call_2", arguments: { a: 2 }, chunks: 2 } },
    ],
    members: withTools,
    order: [...call(2), ...call(2)],
  },
  "a call after a text": {
    says: [{ text: two }, { call: { name: "f", arguments: {} } }],
    members: withTools,
    order: [...text(2), ...call(1)],
  },
  "a custom tool call": {
    says: [{ custom_call: { name: "c", input: "print(1)", chunks: 2 } }],
    members: withTools,
    order: [
      "output_item.added",
      ...times(2, "custom_tool_call_input.delta"),
      "custom_tool_call_input.done",
      "output_item.done",
    ],
  },
  "a text cut by max_output_tokens": { says: [{ text: two }, { finish: "length" }], order: text(2), end: "incomplete" },
  "a text cut by a content filter": {
    says: [{ text: two }, { finish: "content_filter" }],
    order: text(2),
    end: "incomplete",
  },
  "reasoning that is cut before the answer": {
    says: [{ reasoning_summary: ["First"] }, { finish: "length" }],
    members: { reasoning: { summary: "auto" } },
    order: ["output_item.added", ...summaryPart(1), "output_item.done"],
    end: "incomplete",
  },
  "a failure in mid-text": {
    says: [{ text: two }, { error: { status: 500, type: "server_error", code: "server_error", message: "Broke." } }],
    order: [...text(2), "error"],
    end: "failed",
  },
  "an answer that breaks off": {
    says: [{ text: two }, { finish: "none" }],
    order: [...text(2), "error"],
    end: "failed",
  },
  "a failure before the first word": {
    says: [{ error: { status: 429, type: "tokens", code: "rate_limit_exceeded", message: "Too fast." } }],
    order: ["error"],
    end: "failed",
  },
};

const SCENARIO = JSON.stringify({
  scenarios: Object.entries(CASES).map(([title, { says }]) => ({
    when: { input_contains: `<${title}>` },
    events: says,
  })),
});

describe("the events of a stream come in the recorded order for", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  const ask = (title: string, members: object): Promise<Response> =>
    server.post("/v1/responses", { model: MODEL, input: `<${title}>`, ...CASES[title]?.members, ...members });

  const check = async (title: string, { order, end = "completed" }: Case): Promise<ReadStream> => {
    const stream = await readStream(await ask(title, { stream: true }));
    const types = stream.events.map(({ type }) => type.replace(/^response\./, ""));
    expect(types).toEqual(["created", "in_progress", ...order, end]);
    expect(stream.final.status).toBe(end);
    checkStreamLaws(stream);
    return stream;
  };

  verifies(
    "responses.stream.foreground-prefix",
    "responses.stream.text-block-order",
    "responses.stream.empty-text-has-no-delta",
  );
  verifies(
    "responses.stream.annotations-in-place",
    "responses.stream.refusal-block-order",
    "responses.stream.function-call-order",
  );
  verifies(
    "responses.stream.reasoning-summary-order",
    "responses.stream.custom-tool-order",
    "responses.stream.one-terminal-event-last",
  );
  verifies(
    "responses.stream.sequence-numbers-are-dense",
    "responses.stream.lifecycle-snapshots",
    "responses.stream.indexes-append-only",
  );
  verifies(
    "responses.stream.no-top-level-error-key",
    "responses.stream.text-deltas-join-to-text",
    "responses.stream.only-known-types",
  );
  verifies(
    "responses.stream.added-and-done-match",
    "responses.stream.item-id-matches-index",
    "response.ids.unique-items",
  );
  verifies("tools.function.parallel-calls-do-not-interleave", "contract.outgoing.valid-against-schemas");
  test.each(Object.entries(CASES))("%s", async (title, expected) => {
    const stream = await check(title, expected);

    verifies("responses.get.equals-terminal-event", "responses.stream.durable-before-terminal");
    const fetched = await readResponse(await server.fetch(`/v1/responses/${stream.final.id}`));
    expect(fetched).toEqual({ ...stream.final, billing: { payer: "developer" } });

    verifies("responses.stream.plain-body-equals-stream", "errors.stage.after-creation-is-200-failed");
    const plain = await ask(title, {});
    expect(plain.status).toBe(200);
    expect(withoutRandomParts(await readResponse(plain))).toEqual(withoutRandomParts(fetched));
  });
});
