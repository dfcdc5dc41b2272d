import { expect, test } from "vitest";
import { z } from "zod";
import { Antiphon } from "../../packages/client/src/index.ts";
import type { TestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { startUnsureWorld } from "./unsure-world.ts";

const ErrorBody = z.object({ error: z.object({ code: z.string().nullable(), message: z.string() }) });

function clientOf({ url, apiKey }: TestServer): Antiphon {
  return new Antiphon({ baseUrl: url, apiKey });
}

async function startWorld() {
  const parts = await startUnsureWorld();
  return { ...parts, client: clientOf(parts.server) };
}

test("each call of a response is listed with the time, server and outcome of its attempts", async () => {
  verifies("inspection.effects.list");
  const { ask, client } = await startWorld();
  const before = Date.now();
  const { id, created_at } = await readResponse(await ask({ input: "number 3" }));
  const { data, first_id, last_id, has_more } = await client.listResponseEffects(id, { order: "asc" });
  expect(data.map(({ name, effect, state, server_label }) => [name, effect, state, server_label])).toEqual([
    ["look", "none", "done", "bank"],
    ["pay", "may_have", "done", "bank"],
  ]);
  const [look, pay] = data;
  expect([first_id, last_id, has_more]).toEqual([look?.id, pay?.id, false]);
  expect(pay).toEqual({
    id: expect.stringMatching(/^mcp_/),
    object: "response.effect",
    response_id: id,
    created_at: expect.any(Number),
    name: "pay",
    server_label: "bank",
    effect: "may_have",
    state: "done",
    key: `${id}.${pay?.id}`,
    approval_request_id: null,
    attempts: [{ started_at_ms: expect.any(Number), ended_at_ms: expect.any(Number), node: "left", state: "done" }],
    settlement: null,
  });
  expect(pay?.created_at).toBeGreaterThanOrEqual(created_at);
  const [attempt] = pay?.attempts ?? [];
  expect(attempt?.started_at_ms).toBeGreaterThanOrEqual(before);
  expect(attempt?.ended_at_ms).toBeGreaterThanOrEqual(attempt?.started_at_ms ?? Number.POSITIVE_INFINITY);
});

test("a call of an earlier release is listed by what became of it, without attempts", async () => {
  verifies("inspection.effects.list");
  const { ask, payUnknown, client, server } = await startWorld();
  const [paid, unsure] = [await readResponse(await ask({ input: "number 3" })), await payUnknown(4)];
  await query(server.dataDir, "update tool_exchanges set attempts = null");
  const shown = async (id: string) => {
    const { data } = await client.listResponseEffects(id);
    return data.map(({ name, state, attempts }) => [name, state, attempts?.length]);
  };
  const look = ["look", "done", 0];
  expect(await shown(paid.id)).toEqual([["pay", "done", 0], look]);
  expect(await shown(unsure.id)).toEqual([["pay", "unknown", 0], look]);
});

test("the calls are listed in pages, newest first, and an unknown cursor is refused", async () => {
  verifies("inspection.effects.list");
  const { ask, client, server } = await startWorld();
  const { id } = await readResponse(await ask({ input: "number 3" }));
  const first = await client.listResponseEffects(id, { limit: 1 });
  expect([first.data.map(({ name }) => name), first.has_more]).toEqual([["pay"], true]);
  const second = await client.listResponseEffects(id, { limit: 1, after: first.last_id ?? "" });
  expect([second.data.map(({ name }) => name), second.has_more]).toEqual([["look"], false]);
  const reply = await server.fetch(`/v1/responses/${id}/effects?after=mcp_0`);
  expect([reply.status, ErrorBody.parse(await reply.json()).error.code]).toEqual([400, "invalid_value"]);
  const none = await readResponse(await server.post("/v1/responses", { model: "m", input: "number 3" }));
  expect(await client.listResponseEffects(none.id)).toMatchObject({ data: [], first_id: null, last_id: null });
});

test("a call is running until it has ended, and unknown if its response was cancelled meanwhile", async () => {
  verifies("inspection.effects.list");
  const { ask, client, world } = await startWorld();
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  world.aim({
    place: "effect to finish",
    tool: "pay",
    kill: () => {
      reached.resolve();
      return gate.promise;
    },
  });
  const { id } = await readResponse(await ask({ input: "number 5", background: true }));
  await reached.promise;
  const [running] = (await client.listResponseEffects(id)).data;
  expect(running).toMatchObject({ name: "pay", state: "running", attempts: [{ state: "running", ended_at_ms: null }] });
  await client.cancelResponse(id);
  gate.resolve();
  const stateNow = async () => (await client.listResponseEffects(id)).data[0]?.state;
  await expect.poll(stateNow).toBe("unknown");
  const settled = await client.settleResponseEffect(id, running?.id ?? "", { state: "failed" });
  expect(settled).toMatchObject({ state: "failed", settlement: { state: "failed", note: null } });
});

test("a person settles an unknown call once, it is kept whose key said so, and later models are told", async () => {
  verifies("inspection.effects.settle");
  const { ask, payUnknown, client, server, world } = await startWorld();
  const { id } = await payUnknown(6);
  const [pay] = (await client.listResponseEffects(id)).data;
  expect(pay).toMatchObject({ name: "pay", state: "unknown", settlement: null });
  const place = `/v1/responses/${id}/effects/${pay?.id}`;
  const body = { state: "done", note: "The bank shows it." };
  const settled = await client.settleResponseEffect(id, pay?.id ?? "", { state: "done", note: "The bank shows it." });
  expect(settled).toEqual({
    ...pay,
    state: "done",
    settlement: { ...body, settled_at: expect.any(Number), key: { id: expect.any(String), name: expect.anything() } },
  });
  expect(settled.attempts).toMatchObject([{ state: "unknown" }]);
  expect((await client.listResponseEffects(id)).data[0]).toEqual(settled);

  const again = await server.post(place, { state: "failed" });
  const { error } = ErrorBody.parse(await again.json());
  expect([again.status, error.code]).toEqual([400, "effect_not_unknown"]);
  expect(error.message).toContain("its state is done");
  const look = (await client.listResponseEffects(id)).data[1];
  expect((await server.post(`/v1/responses/${id}/effects/${look?.id}`, body)).status).toBe(400);
  expect((await server.post(`/v1/responses/${id}/effects/mcp_0`, body)).status).toBe(404);
  expect((await server.post(place, { state: "unknown" })).status).toBe(400);

  await readResponse(await ask({ input: "And now?", previous_response_id: id }));
  expect(world.asked().at(-1)).toContain("Since then a person has found out that it took effect.");
});

test("of two people who settle a call at once one is heard", async () => {
  verifies("inspection.effects.settle");
  const { payUnknown, client, server } = await startWorld();
  const { id } = await payUnknown(7);
  const [pay] = (await client.listResponseEffects(id)).data;
  const settle = (state: string) => server.post(`/v1/responses/${id}/effects/${pay?.id}`, { state });
  const replies = await Promise.all(["done", "failed", "done", "failed"].map(settle));
  expect(replies.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 400, 400, 400]);
});

test("a response that is not stored has no ledger", async () => {
  verifies("inspection.effects.list");
  const { ask, server } = await startWorld();
  const { id } = await readResponse(await ask({ input: "number 8", store: false }));
  expect((await server.fetch(`/v1/responses/${id}/effects`)).status).toBe(404);
});
