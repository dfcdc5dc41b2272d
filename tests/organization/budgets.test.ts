import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { RateLimitError } from "openai";
import { describe, expect, test, vi } from "vitest";
import { makeKey } from "../keys/keys-command.ts";
import type { TestServer } from "../kit/test-server.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { ANSWER_COST, callWith, DOORS, newKeyOf, saysCounted, servePriced } from "./priced-server.ts";

const ASK = { model: "chat", input: "Hi" };

async function ask(server: TestServer, key: string, body: object = ASK): Promise<number> {
  const reply = await callWith(server, key, "/v1/responses", body);
  await reply.text();
  return reply.status;
}

/** A key whose budget one answer has used, and a server whose model counts its turns. */
async function spentKey() {
  let turns = 0;
  const server = await servePriced({}, (response, request) => {
    if (request.body.includes('"stream":true')) turns += 1;
    return saysCounted(response, request);
  });
  const key = await newKeyOf(server, { name: "ci", budget: { period: "day", tokens: 15 } });
  expect(await ask(server, key.value)).toBe(200);
  return { server, key, turnsSoFar: () => turns };
}

const CASES: typeof DOORS = {
  ...DOORS,
  vectors: ["/v1/embeddings", { model: "vectors", input: "Hi" }],
  ranks: ["/v1/rerank", { model: "order", query: "you", documents: ["you"] }],
};

describe("a budget that is used up", () => {
  test("refuses by every door, before the model is asked, and names the key and the budget", async () => {
    verifies("usage.budgets.every-door");
    const { server, key, turnsSoFar } = await spentKey();
    expect(turnsSoFar()).toBe(1);
    for (const [name, [path, body]] of Object.entries(CASES)) {
      const reply = await callWith(server, key.value, path, body);
      const text = await reply.text();
      expect([name, reply.status, reply.headers.get("x-should-retry")]).toEqual([name, 429, "false"]);
      expect(text).toContain(`The budget of the API key 'ci' (${key.id}) is used up: 15 of 15 tokens this day.`);
      if (path !== "/v1/messages") expect(JSON.parse(text).error).toMatchObject({ code: "insufficient_quota" });
    }
    const socket = await openSocket(server, { apiKey: key.value });
    const { refusal } = await socket.create({ model: "chat" });
    expect(refusal).toMatchObject({ status: 429, error: { code: "insufficient_quota" } });
    expect(turnsSoFar()).toBe(1);
    expect(await ask(server, server.apiKey)).toBe(200);
  });

  test("is not tried again by the official clients", async () => {
    verifies("usage.budgets.no-retry");
    const { server, key } = await spentKey();
    let calls = 0;
    const counting: typeof fetch = (input, init) => {
      calls += 1;
      return fetch(input, init);
    };
    const client = new OpenAI({ apiKey: key.value, baseURL: `${server.url}/v1`, fetch: counting });
    await expect(client.responses.create(ASK)).rejects.toThrow(RateLimitError);
    const other = new Anthropic({ apiKey: key.value, baseURL: server.url, fetch: counting });
    const message = { model: "chat", max_tokens: 9, messages: [{ role: "user" as const, content: "Hi" }] };
    await expect(other.messages.create(message)).rejects.toMatchObject({ status: 429 });
    expect(calls).toBe(2);
  });

  test("of money is that of the prices; models without a price cost nothing", async () => {
    verifies("usage.budgets.money");
    const server = await servePriced();
    const { id, value } = await newKeyOf(server, { budget: { period: "month", amount: 2 * ANSWER_COST } });
    expect(await ask(server, value, { model: "free", input: "Hi" })).toBe(200);
    expect([await ask(server, value), await ask(server, value), await ask(server, value)]).toEqual([200, 200, 429]);
    const shown = await (await server.fetch(`/v1/organization/keys/${id}`)).json();
    expect(shown).toMatchObject({ spending: { amount: 2 * ANSWER_COST, tokens: 45 } });
  });

  test("can be raised by an operator, and the key works at once", async () => {
    verifies("usage.budgets.raised");
    const { server, key } = await spentKey();
    expect(await ask(server, key.value)).toBe(429);
    const raised = { budget: { period: "day", tokens: 30 } };
    expect((await server.post(`/v1/organization/keys/${key.id}`, raised)).status).toBe(200);
    expect([await ask(server, key.value), await ask(server, key.value)]).toEqual([200, 429]);
    expect((await server.post(`/v1/organization/keys/${key.id}`, { budget: null })).status).toBe(200);
    expect(await ask(server, key.value)).toBe(200);
  });

  test("may be that of a key from the command, in total", async () => {
    verifies("usage.budgets.command");
    const server = await servePriced();
    const key = await makeKey(server.dataDir, "--token-budget", "15", "--budget-period", "total");
    expect([await ask(server, key), await ask(server, key)]).toEqual([200, 429]);
    const reply = await callWith(server, key, "/v1/responses", ASK);
    expect(await reply.text()).toContain("15 of 15 tokens in total. An operator can raise it.");
  });
});

test.skipIf(whyNoPostgres() !== undefined)("what a key used on one server counts on another", async () => {
  verifies("usage.budgets.shared");
  const env = { DATABASE_URL: await databaseOfTest() };
  const one = await servePriced({ env });
  const other = await servePriced({ env: { ...env, API_KEYS: "sk-other-0123456789" } });
  const { value: key } = await newKeyOf(one, { budget: { period: "total", tokens: 15 } });
  expect(await ask(one, key)).toBe(200);
  await vi.waitFor(async () => expect(await ask(other, key)).toBe(429), 20_000);
});
