import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, type TestContext, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";

/** Long enough that nothing made here gets old by itself; the sweep looks every six seconds. */
const TTL = "60s";
const AGE_SECONDS = 3_600;
const TEST_MS_MAX = 120_000;

const SCENARIO = `
models: [${MODEL}]
fallback: planner
scenarios:
  - when: { input_contains: slowly }
    events:
      - text: so
      - delay_ms: 600000
`;

async function serve(ttl: string, { onTestFinished }: TestContext): Promise<TestServer> {
  const server = await startTestServer({ env: { RESPONSES_TTL: ttl }, scenario: SCENARIO });
  onTestFinished(() => server.close());
  return server;
}

async function make(server: TestServer, members: object = {}): Promise<string> {
  const reply = await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members });
  const { id } = JSON.parse(await reply.text());
  return String(id);
}

/** Moves the creation of a response into the past. */
async function age(server: TestServer, id: string): Promise<void> {
  await query(server.dataDir, "update responses set created_at = created_at - ? where id = ?", AGE_SECONDS, id);
}

async function statusOf(server: TestServer, path: string): Promise<number> {
  const reply = await server.fetch(path);
  await reply.text();
  return reply.status;
}

async function untilGone(server: TestServer, id: string): Promise<void> {
  while ((await statusOf(server, `/v1/responses/${id}`)) !== 404) await sleep(100);
}

describe.concurrent("a response that is older than RESPONSES_TTL", { timeout: TEST_MS_MAX }, () => {
  verifies("state.store.expiry", "state.store.expiry-keeps-chains", "state.store.expiry-keeps-conversations");
  test("is gone on every path, and newer ones stay", async (context) => {
    const server = await serve(TTL, context);
    const old = await make(server);
    const young = await make(server);
    await age(server, old);
    await untilGone(server, old);
    expect(await statusOf(server, `/v1/responses/${old}/events`)).toBe(404);
    expect(await statusOf(server, `/v1/responses/${old}/input_items`)).toBe(404);
    const chained = { model: MODEL, input: "And?", previous_response_id: old };
    expect((await server.post("/v1/responses", chained)).status).toBe(400);
    expect(await statusOf(server, `/v1/responses/${young}`)).toBe(200);
  });

  test("stays as long as a newer one continues it", async (context) => {
    const server = await serve(TTL, context);
    const alone = await make(server);
    const first = await make(server, { input: "My name is Ada." });
    const second = await make(server, { input: "Well?", previous_response_id: first });
    for (const id of [first, alone]) await age(server, id);
    await untilGone(server, alone);
    expect(await statusOf(server, `/v1/responses/${first}`)).toBe(200);
    await make(server, { input: "What is my name?", previous_response_id: second });
    expect(await statusOf(server, `/v1/responses/${second}`)).toBe(200);
  });

  test("stays while it is in progress", async (context) => {
    const server = await serve(TTL, context);
    const id = await make(server, { input: "slowly", background: true });
    const ended = await make(server);
    for (const old of [id, ended]) await age(server, old);
    await untilGone(server, ended);
    const reply = await server.fetch(`/v1/responses/${id}`);
    expect(JSON.parse(await reply.text())).toMatchObject({ status: "in_progress" });
    await server.post(`/v1/responses/${id}/cancel`, {});
    await untilGone(server, id);
  });

  test("leaves its items in its conversation", async (context) => {
    const server = await serve(TTL, context);
    const made = await server.post("/v1/conversations", {});
    const conversation: unknown = JSON.parse(await made.text()).id;
    const id = await make(server, { conversation });
    const items = async (): Promise<unknown> =>
      JSON.parse(await (await server.fetch(`/v1/conversations/${conversation}/items`)).text());
    const before = await items();
    expect(before).toMatchObject({ data: [{ role: "assistant" }, { role: "user" }] });
    await age(server, id);
    await untilGone(server, id);
    expect(await items()).toEqual(before);
  });

  test("stays forever if RESPONSES_TTL is 0", async (context) => {
    const server = await serve("0", context);
    const id = await make(server);
    await age(server, id);
    await sleep(2_000);
    expect(await statusOf(server, `/v1/responses/${id}`)).toBe(200);
  });
});

test("a RESPONSES_TTL without a unit stops the start, because it might mean days", async () => {
  await expect(startTestServer({ env: { RESPONSES_TTL: "30" } })).rejects.toThrow("RESPONSES_TTL is '30'");
});
