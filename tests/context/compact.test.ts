import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { compact, create, MODEL, sealOf, start, textOf, typesOf, user } from "./compact.fixture.ts";

const TALK = [
  user("My name is Ada."),
  { role: "assistant", content: "Hello, Ada." },
  user("My city is Oslo."),
  { role: "assistant", content: "Noted." },
];

test("compacting returns the user's messages in order and one compaction item", async () => {
  verifies("responses.compact.answers-compaction");
  const server = await start();
  const { output, ...rest } = await compact(server, { input: TALK });
  expect(rest).toMatchObject({
    id: expect.stringMatching(/^resp_/),
    object: "response.compaction",
    created_at: expect.any(Number),
  });
  expect(rest.usage.total_tokens).toBe(rest.usage.input_tokens + rest.usage.output_tokens);
  expect(rest.usage.output_tokens).toBeGreaterThan(0);
  expect(output).toEqual([
    expect.objectContaining({
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: "My name is Ada." }],
    }),
    expect.objectContaining({
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: "My city is Oslo." }],
    }),
    { id: expect.stringMatching(/^cmp_/), type: "compaction", encrypted_content: expect.stringMatching(/^[\w-]+$/) },
  ]);
});

test("the output works as the next input, and the model knows the earlier conversation from it", async () => {
  verifies("responses.compact.output-continues");
  const server = await start();
  const { output } = await compact(server, { input: TALK });
  const [compaction] = output.slice(-1);
  const whole = await create(server, { input: [...output, user("What is my name?")] });
  expect(textOf(whole.output)).toBe("Your name is Ada.");
  const alone = await create(server, { input: [compaction, user("What is my city?")] });
  expect(textOf(alone.output)).toBe("Your city is Oslo.");
});

test("in a chain, messages keep their ids, and everything before an earlier compaction is gone", async () => {
  verifies("responses.compact.starts-at-latest");
  const server = await start();
  const first = await create(server, { input: [{ id: "msg_first", role: "user", content: "My name is Ada." }] });
  const second = await create(server, { previous_response_id: first.id, input: "My city is Oslo." });
  const once = await compact(server, { previous_response_id: second.id });
  expect(once.output.map(({ id }) => id)).toEqual([
    "msg_first",
    expect.stringMatching(/^msg_/),
    expect.stringMatching(/^cmp_/),
  ]);

  const third = await create(server, { input: [...once.output, user("My dog is Rex.")] });
  const twice = await compact(server, { previous_response_id: third.id, input: [] });
  expect(typesOf(twice.output)).toEqual(["message", "compaction"]);
  expect(textOf(twice.output)).toBe("My dog is Rex.");
  const asked = await create(server, { input: [...twice.output.slice(-1), user("What is my name?")] });
  expect(textOf(asked.output)).toBe("Your name is Ada.");
});

test("a null model means the previous response's model; without a previous response it is an error", async () => {
  verifies("responses.compact.needs-model");
  const server = await start();
  const { id } = await create(server, { input: "Hi" });
  expect(typesOf((await compact(server, { model: null, previous_response_id: id })).output)).toEqual([
    "message",
    "compaction",
  ]);
  for (const body of [{ input: "Hi" }, { model: null, input: "Hi" }, { model: null }]) {
    const reply = await server.post("/v1/responses/compact", body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: "missing_required_parameter", param: "model" } });
  }
});

test("an empty context is refused, and so is everything that a create call refuses", async () => {
  const server = await start();
  const cases: readonly (readonly [object, string])[] = [
    [{ input: [] }, "missing_required_parameter"],
    [{}, "missing_required_parameter"],
    [{ previous_response_id: "resp_unknown" }, "previous_response_not_found"],
    [{ model: "no-such-model", input: "Hi" }, "model_not_found"],
    [{ input: "Hi", nonsense: true }, "unknown_parameter"],
    [{ input: "Hi", prompt_cache_key: "k".repeat(65) }, "string_above_max_length"],
  ];
  for (const [body, code] of cases) {
    const reply = await server.post("/v1/responses/compact", { model: MODEL, ...body });
    expect(reply.status, JSON.stringify(body)).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code } });
  }
});

test("a compaction can be read only by the server that made it, and only as a compaction", async () => {
  verifies("errors.catalogue.bad-encrypted-content", "state.sealed.content-is-bound");
  const [server, elsewhere] = [await start(), await start()];
  const { output } = await compact(server, { input: TALK });
  const foreign = await compact(elsewhere, { input: TALK });
  const seal = sealOf(output);
  const bad = [
    sealOf(foreign.output),
    `${seal.slice(0, -2)}${seal.endsWith("AA") ? "BB" : "AA"}`,
    seal.slice(0, 40),
    "",
    "gAAAAABforged",
    `${seal}A`.replace(/^./, "B"),
  ];
  for (const encrypted_content of bad) {
    for (const path of ["/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"]) {
      const reply = await server.post(path, {
        model: MODEL,
        input: [{ type: "compaction", encrypted_content }, user("Hi")],
      });
      expect(reply.status, `${path} ${encrypted_content.slice(0, 20)}`).toBe(400);
      expect(await reply.json()).toMatchObject({ error: { code: "invalid_encrypted_content" } });
    }
  }
});

const word = fc.stringMatching(/^[a-zA-Z0-9 ,.]{1,40}$/);
const exchange = fc.oneof(
  word.map((text) => [user(text)]),
  word.map((text) => [user(text), { role: "assistant", content: text }]),
  fc
    .tuple(fc.stringMatching(/^call_[a-z0-9]{8}$/), word)
    .map(([id, text]) => [
      user(text),
      { type: "function_call", call_id: id, name: "look_up", arguments: "{}" },
      { type: "function_call_output", call_id: id, output: text },
    ]),
  word.map((text) => [{ role: "developer", content: text }]),
);
const talk = fc
  .uniqueArray(exchange, { minLength: 1, maxLength: 8, selector: (items) => JSON.stringify(items) })
  .map((exchanges) => exchanges.flat());

test("any context can be compacted, continued and compacted again", async () => {
  verifies("responses.compact.output-continues");
  const server = await start();
  await fc.assert(
    fc.asyncProperty(talk, talk, async (before, after) => {
      const once = await compact(server, { input: before });
      expect(typesOf(once.output).slice(-1)).toEqual(["compaction"]);
      expect(once.output.slice(0, -1).every((item) => item.type === "message" && item.role === "user")).toBe(true);
      const answer = await create(server, { input: [...once.output, ...after, user("Go on.")], store: false });
      expect(answer.status).toBe("completed");
      const twice = await compact(server, { input: [...once.output, ...after] });
      const asked = after.filter((item) => "role" in item && item.role === "user").length;
      expect(typesOf(twice.output)).toEqual([...Array.from({ length: asked }, () => "message"), "compaction"]);
    }),
    { numRuns: 40 },
  );
}, 60_000);
