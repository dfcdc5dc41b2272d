import { type Logger, silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { eventsOf, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { create, MODEL, start, textOf, typesOf, user } from "./compact.fixture.ts";

const RULE = [{ type: "compaction", compact_threshold: 1000 }];
const LONG = `My name is Ada. ${"word ".repeat(1100)}`;

test("a compaction follows the answer that makes the context reach the threshold", async () => {
  verifies("create.compaction.threshold-compacts", "responses.stream.compaction-order");
  const server = await start();
  const stream = await readStream(
    await server.post("/v1/responses", { model: MODEL, input: LONG, context_management: RULE, stream: true }),
  );
  checkStreamLaws(stream);
  expect(typesOf(stream.final.output)).toEqual(["message", "compaction"]);
  expect(stream.final.status).toBe("completed");
  const types = stream.events.map(({ type }) => type);
  expect(types.slice(-5)).toEqual([
    "response.content_part.done",
    "response.output_item.done",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
  ]);
  const added = eventsOf(stream, "response.output_item.added").at(-1)?.item;
  expect(added).toEqual({
    id: expect.stringMatching(/^cmp_/),
    type: "compaction",
    encrypted_content: expect.any(String),
  });

  const plain = await create(server, { input: LONG });
  expect(stream.final.usage).toEqual(plain.usage);
});

test("below the threshold nothing is compacted", async () => {
  const server = await start();
  const { output } = await create(server, { input: "word ".repeat(500), context_management: RULE });
  expect(typesOf(output)).toEqual(["message"]);
});

test("a continued context begins at the compaction, in a chain and in a conversation", async () => {
  verifies("create.compaction.threshold-compacts", "responses.compact.starts-at-latest");
  const server = await start();
  const made = await server.post("/v1/conversations", {});
  const { id: conversation }: { id: string } = await made.json();
  const first = await create(server, { input: LONG, context_management: RULE });
  const talked = await create(server, { conversation, input: LONG, context_management: RULE });
  expect(typesOf(talked.output)).toEqual(["message", "compaction"]);
  for (const before of [{ previous_response_id: first.id }, { conversation }]) {
    const next = await create(server, { ...before, input: "What is my name?" });
    expect(textOf(next.output)).toBe("Your name is Ada.");
    expect(next.usage?.input_tokens).toBeLessThan(500);
  }
});

test("a client that carries its items may leave out everything before the compaction", async () => {
  const server = await start();
  const { output } = await create(server, { input: LONG, context_management: RULE, store: false });
  for (const items of [[user(LONG), ...output], output, output.slice(-1)]) {
    const next = await create(server, { input: [...items, user("What is my name?")], store: false });
    expect(textOf(next.output)).toBe("Your name is Ada.");
    expect(next.usage?.input_tokens).toBeLessThan(500);
  }
});

const tool = { type: "function", name: "look_up", strict: false, parameters: { type: "object", properties: {} } };
const WITH_CALL = `
scenarios:
  - when: { input_contains: "look it up", has_tool_output: false }
    events:
      - text: Let me see.
      - call: { name: look_up, arguments: {} }
  - when: { has_tool_output: true }
    events: [{ text: Found. }]
`;

test("calls without outputs survive the compaction", async () => {
  const server = await start({ scenario: WITH_CALL });
  const body = { tools: [tool], context_management: RULE, store: true };
  const first = await create(server, { ...body, input: `${LONG} look it up` });
  expect(typesOf(first.output)).toEqual(["message", "function_call", "compaction"]);
  const [, call, compaction] = first.output;
  if (call?.type !== "function_call") throw new Error("there is no call");
  const answer = { type: "function_call_output", call_id: call.call_id, output: "It is 42." };
  const chained = await create(server, { tools: [tool], previous_response_id: first.id, input: [answer] });
  expect(textOf(chained.output)).toBe("Found.");
  const whole = await create(server, { tools: [tool], input: [user(LONG), ...first.output, answer], store: false });
  expect(textOf(whole.output)).toBe("Found.");
  const pruned = await create(server, { tools: [tool], input: [compaction, answer], store: false });
  expect(textOf(pruned.output)).toBe("Found.");
  expect(pruned.usage?.input_tokens).toBe(chained.usage?.input_tokens);

  const without = await server.post("/v1/responses", {
    model: MODEL,
    previous_response_id: first.id,
    input: "Never mind.",
  });
  expect(without.status).toBe(200);
});

test("an answer is kept if its compaction fails", async () => {
  verifies("create.compaction.failure-keeps-answer");
  for (const events of [
    '[{ error: { code: server_error, message: "No." } }]',
    "[{ refuse_turn: { status: 503, message: Later. } }]",
    "[{ finish: none }]",
    "[{ finish: stop }]",
  ]) {
    const scenario = `
scenarios:
  - when: { input_contains: "Write a summary of this conversation" }
    events: ${events}
`;
    const faults: unknown[] = [];
    const server = await start({ scenario, log: collecting(faults) });
    const { output, status } = await create(server, { input: LONG, context_management: RULE });
    expect(status).toBe("completed");
    expect(typesOf(output)).toEqual(["message"]);
    expect(faults).toHaveLength(1);
  }
});

test("an answer that was cut short is not compacted", async () => {
  const server = await start();
  const { output, status } = await create(server, { input: LONG, context_management: RULE, max_output_tokens: 16 });
  expect(status).toBe("incomplete");
  expect(typesOf(output)).toEqual(["message"]);
});

test("without a threshold the model's window decides, and without a window nothing is compacted", async () => {
  const request = { input: "word ".repeat(900), context_management: [{ type: "compaction" }] };
  const unknown = await start();
  expect(typesOf((await create(unknown, request)).output)).toEqual(["message"]);
  const known = await start({ env: { MODEL_CONTEXT_WINDOW: "1100" } });
  expect(typesOf((await create(known, request)).output)).toEqual(["message", "compaction"]);
});

test("unknown rules are refused", async () => {
  const server = await start();
  const cases: readonly (readonly [object, string, string])[] = [
    [{ context_management: [{ type: "forgetting" }] }, "invalid_value", "context_management[0].type"],
    [
      { context_management: [{ type: "compaction", compact_threshold: 999 }] },
      "integer_below_min_value",
      "context_management[0].compact_threshold",
    ],
    [{ context_management: [] }, "array_below_min_length", "context_management"],
  ];
  for (const [members, code, param] of cases) {
    const reply = await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code, param } });
  }
});

test("a trigger at the end of the input is answered by one compaction and nothing else", async () => {
  verifies("create.compaction.trigger-answers-compaction");
  const server = await start();
  const input = [user("My name is Ada."), { role: "assistant", content: "Hello." }, { type: "compaction_trigger" }];
  const stream = await readStream(
    await server.post("/v1/responses", { model: MODEL, input, stream: true, tools: [tool] }),
  );
  checkStreamLaws(stream);
  expect(stream.events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(typesOf(stream.final.output)).toEqual(["compaction"]);
  expect(stream.final.usage?.output_tokens).toBeGreaterThan(0);
  const listed = await server.fetch(`/v1/responses/${stream.final.id}/input_items`);
  const { data }: { data: readonly { type: string }[] } = await listed.json();
  expect(typesOf(data)).toEqual(["message", "message"]);

  const next = await create(server, { previous_response_id: stream.final.id, input: "What is my name?" });
  expect(textOf(next.output)).toBe("Your name is Ada.");
  const carried = await create(server, {
    input: [user("My name is Ada."), ...stream.final.output, user("What is my name?")],
  });
  expect(carried.usage?.input_tokens).toBe(next.usage?.input_tokens);
});

test("a trigger can continue a chain, and must be the last of several items", async () => {
  const server = await start();
  const { id } = await create(server, { input: "My name is Ada." });
  const { output } = await create(server, { previous_response_id: id, input: [{ type: "compaction_trigger" }] });
  expect(typesOf(output)).toEqual(["compaction"]);
  const early = await server.post("/v1/responses", {
    model: MODEL,
    input: [{ type: "compaction_trigger" }, user("Hi")],
  });
  expect(await early.json()).toMatchObject({ error: { code: "invalid_value", param: "input[0]" } });
  const empty = await server.post("/v1/responses", { model: MODEL, input: [{ type: "compaction_trigger" }] });
  expect(empty.status).toBe(400);
});

test("if the model writes no summary, a trigger ends in an error", async () => {
  const server = await start({ scenario: "scenarios:\n  - events: [{ finish: stop }]\n" });
  const reply = await server.post("/v1/responses", {
    model: MODEL,
    input: [user("Hi"), { type: "compaction_trigger" }],
  });
  expect(await reply.json()).toMatchObject({ status: "failed", error: { code: "server_error" }, output: [] });
});

function collecting(faults: unknown[]): Logger {
  return { ...silentLogger, error: (fields) => faults.push(fields) };
}
