import { setTimeout as sleep } from "node:timers/promises";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { says, serveBehind, usageChunk } from "../responses/behind-upstream.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { makeKey } from "./keys-command.ts";

const COUNT = /^\d+$/;
const DURATION = /^(\d+m)?\d+(\.\d+)?s$|^\d+ms$/;
const SIX = {
  "limit-requests": COUNT,
  "limit-tokens": COUNT,
  "remaining-requests": COUNT,
  "remaining-tokens": COUNT,
  "reset-requests": DURATION,
  "reset-tokens": DURATION,
};

async function serve(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env });
}

function limitsOf({ headers }: Response): Readonly<Record<string, string>> {
  const named = [...headers].filter(([name]) => name.startsWith("x-ratelimit-"));
  return Object.fromEntries(named.map(([name, value]) => [name.slice("x-ratelimit-".length), value]));
}

/** The reply to a create request, read to its end. */
async function create(server: TestServer, members: object = {}): Promise<Response> {
  const reply = await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members });
  await reply.clone().text();
  return reply;
}

function checkSix(reply: Response): void {
  const expected = Object.entries(SIX).map(([name, form]) => [name, expect.stringMatching(form)]);
  expect(limitsOf(reply)).toEqual(Object.fromEntries(expected));
}

describe("the six rate-limit headers", () => {
  test("are in the reply to every create except background ones, and in no other reply", async () => {
    verifies(
      "http.headers.ratelimit-on-plain-creates",
      "http.headers.ratelimit-on-every-create",
      "http.headers.no-ratelimit-on-reads",
    );
    const server = await serve();
    for (const members of [{}, { stream: true }]) checkSix(await create(server, members));
    for (const members of [{ background: true }, { background: true, stream: true }])
      expect(limitsOf(await create(server, members))).toEqual({});
    const { id } = JSON.parse(await (await create(server)).text());
    const others = [
      await server.fetch(`/v1/responses/${id}`),
      await server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" }),
      await server.fetch(`/v1/responses/${id}`, { method: "DELETE" }),
    ];
    for (const reply of others) expect(limitsOf(reply)).toEqual({});
  });

  test("show what is left, and when the full amount is available again", async () => {
    const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "10", RATE_LIMIT_TOKENS_PER_MINUTE: "100000" });
    expect(limitsOf(await create(server))).toMatchObject({
      "limit-requests": "10",
      "limit-tokens": "100000",
      "remaining-requests": "9",
      "reset-requests": expect.stringMatching(/^(1m0|5\d(\.\d+)?)s$/),
    });
    expect(limitsOf(await create(server))).toMatchObject({ "remaining-requests": "8" });
  });
});

test("count compactions, which call a model too", async () => {
  const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "2" });
  const compact = (): Promise<Response> =>
    server.post("/v1/responses/compact", { model: MODEL, input: "My name is Ada." });
  const reply = await compact();
  checkSix(reply);
  expect([reply.status, limitsOf(reply)["remaining-requests"]]).toEqual([200, "1"]);
  expect((await create(server)).status).toBe(200);
  expect((await compact()).status).toBe(429);
});

test("count token counts as requests: they may fetch, read and transcribe as much", async () => {
  verifies("errors.ratelimit.counting-is-a-request");
  const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "2" });
  const count = (): Promise<Response> => server.post("/v1/responses/input_tokens", { model: MODEL, input: "Hi" });
  const reply = await count();
  expect([reply.status, limitsOf(reply)]).toEqual([200, {}]);
  expect((await create(server)).status).toBe(200);
  const refused = await count();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { code: "rate_limit_error" } });
});

describe("a key that has no requests left", () => {
  test("gets a 429 that clients can act on, and works again later", async () => {
    verifies(
      "errors.ratelimit.own-limit-is-429",
      "errors.ratelimit.carries-retry-headers",
      "errors.ratelimit.parsable-delay-text",
    );
    const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "2" });
    for (const stream of [false, true]) expect((await create(server, { stream })).status).toBe(200);
    for (const stream of [false, true]) {
      const reply = await create(server, { stream });
      expect([reply.status, reply.headers.get("content-type")]).toEqual([429, "application/json"]);
      checkSix(reply);
      expect(limitsOf(reply)).toMatchObject({ "remaining-requests": "0" });
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      const { error } = JSON.parse(await reply.text());
      expect(error).toEqual({
        message: expect.stringMatching(/Please try again in \d+(\.\d+)?s\.$/),
        type: "rate_limit_error",
        param: null,
        code: "rate_limit_error",
      });
    }
    expect((await server.fetch("/v1/models")).status).toBe(200);
  });

  test("gets the official client's rate-limit error", async () => {
    const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "1" });
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
    await client.responses.create({ model: MODEL, input: "Hi" });
    await expect(client.responses.create({ model: MODEL, input: "Hi" })).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });

  test("does not affect another key", async () => {
    verifies("errors.ratelimit.own-limits-of-a-key");
    const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "2" });
    const strict = await makeKey(server.dataDir, "--requests-per-minute", "1");
    const statuses = async (key: string, count: number): Promise<readonly number[]> => {
      const all: number[] = [];
      for (let index = 0; index < count; index++) {
        const reply = await fetch(`${server.url}/v1/responses`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: MODEL, input: "Hi" }),
        });
        await reply.text();
        all.push(reply.status);
      }
      return all;
    };
    expect(await statuses(strict, 2)).toEqual([200, 429]);
    expect(await statuses(server.apiKey, 3)).toEqual([200, 200, 429]);
    expect(await statuses(await makeKey(server.dataDir), 3)).toEqual([200, 200, 429]);
  });

  test("has lost none to refused bodies", async () => {
    const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "1" });
    for (let index = 0; index < 3; index++) expect((await create(server, { temperature: 9 })).status).toBe(400);
    expect((await create(server)).status).toBe(200);
  });

  test("gets exactly its limit of requests through, however many arrive at once", async () => {
    const server = await serve({ RATE_LIMIT_REQUESTS_PER_MINUTE: "10" });
    const replies = await Promise.all(Array.from({ length: 50 }, () => create(server)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(40);
  });
});

describe("the tokens of a minute", () => {
  const remaining = (reply: Response): number => Number(limitsOf(reply)["remaining-tokens"]);
  const used = (total: number): unknown =>
    usageChunk({ prompt_tokens: 10, completion_tokens: total - 10, total_tokens: total });
  const env = { RATE_LIMIT_TOKENS_PER_MINUTE: "10000" };

  test("are reserved by an estimate and settled when the run ends, streamed or not", async () => {
    verifies("errors.ratelimit.estimate-is-settled");
    const behind = await serveBehind((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(textChunk("Hi"), lastChunk("stop"), used(300), "[DONE]"));
    }, env);
    let settled = 10_000;
    for (const members of [{ max_output_tokens: 4_000 }, { max_output_tokens: 4_000, stream: true }]) {
      const reply = await behind.create(members);
      await reply.text();
      expect(remaining(reply)).toBeLessThan(settled - 4_000);
      expect(remaining(reply)).toBeGreaterThan(settled - 4_100);
      settled -= 300;
    }
    const last = await behind.create({ max_output_tokens: 16 });
    expect(remaining(last)).toBeGreaterThan(settled - 100);
  });

  test("beyond the estimate are charged", async () => {
    verifies("errors.ratelimit.estimate-is-settled");
    const behind = await serveBehind((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(textChunk("Hi"), lastChunk("stop"), used(20_000), "[DONE]"));
    }, env);
    await (await behind.create({ max_output_tokens: 16 })).text();
    const refused = await behind.create({ max_output_tokens: 16 });
    expect([refused.status, remaining(refused)]).toEqual([429, 0]);
    expect((await refused.json()).error.message).toMatch(/on tokens per minute: .*try again in/);
  });

  test("are returned at once if the model server refused", async () => {
    const behind = await serveBehind((response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end('{"error":{"message":"no"}}');
    }, env);
    for (let index = 0; index < 5; index++) {
      expect((await behind.create({ max_output_tokens: 9_000 })).status).toBe(400);
    }
    expect(behind.upstream.calls).toHaveLength(5);
  });

  test("stay reserved if the client left before anything was counted", async () => {
    const behind = await serveBehind((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("Hi")));
    }, env);
    const leaving = new AbortController();
    const reply = await behind.create({ stream: true, max_output_tokens: 9_000 }, leaving.signal);
    leaving.abort();
    await reply.text().catch(() => "");
    await sleep(100);
    expect((await behind.create({ max_output_tokens: 9_000 })).status).toBe(429);
  });

  test("stay reserved if the client left a compaction before anything was counted", async () => {
    const behind = await serveBehind((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("So far")));
    }, env);
    const leaving = new AbortController();
    const reply = behind.server.fetch("/v1/responses/compact", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "Hi" }),
      signal: leaving.signal,
    });
    await expect.poll(() => behind.upstream.calls.length).toBe(1);
    await sleep(100);
    leaving.abort();
    await reply.catch(() => null);
    await sleep(100);
    expect((await behind.create({ max_output_tokens: 9_000 })).status).toBe(429);
  });

  test("are reserved for an answer only as far as the limit allows", async () => {
    const behind = await serveBehind(says("Hi"), env);
    expect((await behind.create({ max_output_tokens: 1_000_000 })).status).toBe(200);
  });

  test("get a 429 that says not to retry if the input alone exceeds them, before the model is called", async () => {
    verifies("errors.ratelimit.larger-than-a-minute");
    const behind = await serveBehind(says("Hi"), env);
    const reply = await behind.create({ input: "word ".repeat(20_000) });
    expect([reply.status, reply.headers.get("x-should-retry")]).toEqual([429, "false"]);
    checkSix(reply);
    expect((await reply.json()).error.message).not.toMatch(/try again in/);
    expect(behind.upstream.calls).toHaveLength(0);
    expect((await behind.create()).status).toBe(200);
  });
});
