import { silentLogger } from "@antiphon/base/logger.ts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { startRedis, whyNoRedis } from "../services/redis-server.ts";
import { databaseOfTest, redisOfRun } from "../services/services-of-run.ts";

const SERVERS = 2;
const START_MS_MAX = 30_000;

/** Servers with a data folder each and one database in PostgreSQL. */
async function serveTogether(env: Readonly<Record<string, string>>): Promise<readonly TestServer[]> {
  const DATABASE_URL = await databaseOfTest();
  const API_KEYS = `sk-shared-rates-${Math.random().toString(16).slice(2)}-0123456789`;
  const servers: TestServer[] = [];
  for (let started = 0; started < SERVERS; started++) {
    const server = await startTestServer({ env: { DATABASE_URL, API_KEYS, ...env }, log: silentLogger });
    servers.push(server);
  }
  return servers;
}

function create(server: TestServer, members: object = {}): Promise<Response> {
  return server.post("/v1/responses", { model: MODEL, input: "Hi", store: false, ...members });
}

async function statusesOf(servers: readonly TestServer[], requests: number): Promise<readonly number[]> {
  const replies = await Promise.all(
    Array.from({ length: requests }).flatMap(() => servers.map((server) => create(server))),
  );
  await Promise.all(replies.map((reply) => reply.text()));
  return replies.map(({ status }) => status);
}

const COUNTED_BY = [
  { name: "PostgreSQL", why: whyNoPostgres(), env: async () => ({}) },
  { name: "Redis", why: whyNoPostgres() ?? whyNoRedis(), env: async () => ({ BUS_URL: await redisOfRun() }) },
] as const;

describe.each(COUNTED_BY)("two servers that count in $name", ({ why, env }) => {
  test.skipIf(why !== undefined)("let exactly the limit of requests through together", async () => {
    const servers = await serveTogether({ ...(await env()), RATE_LIMIT_REQUESTS_PER_MINUTE: "100" });
    await vi.waitFor(async () => {
      const reply = await create(servers[0] ?? fail());
      expect(reply.headers.get("x-ratelimit-remaining-requests")).toMatch(/^\d+$/);
      const other = await create(servers[1] ?? fail());
      const [one, two] = [reply, other].map((each) => Number(each.headers.get("x-ratelimit-remaining-requests")));
      expect(two).toBe((one ?? 0) - 1); // Both count in the same place from now on.
    }, START_MS_MAX);
    const left = await create(servers[0] ?? fail());
    const remaining = Number(left.headers.get("x-ratelimit-remaining-requests"));
    const statuses = await statusesOf(servers, 60);
    expect(statuses.filter((status) => status === 200)).toHaveLength(remaining);
    expect(statuses.filter((status) => status === 429)).toHaveLength(120 - remaining);
  });

  test.skipIf(why !== undefined)("refuse a key on one server for the tokens that it used on the other", async () => {
    const servers = await serveTogether({ ...(await env()), RATE_LIMIT_TOKENS_PER_MINUTE: "2000" });
    const [one, other] = [servers[0] ?? fail(), servers[1] ?? fail()];
    const used = await create(one, { input: "word ".repeat(1200), max_output_tokens: 16 });
    expect(used.status).toBe(200);
    await used.text();
    await expect
      .poll(async () => {
        const reply = await create(other, { input: "word ".repeat(1200), max_output_tokens: 16 });
        return [reply.status, await reply.json()];
      })
      .toEqual([429, expect.objectContaining({ error: expect.objectContaining({ code: "rate_limit_error" }) })]);
  });
});

test.skipIf((whyNoPostgres() ?? whyNoRedis()) !== undefined)(
  "while Redis is away, each server lets its part of the limit through, and all of it counts again afterwards",
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const servers = await serveTogether({ BUS_URL: redis.url, RATE_LIMIT_REQUESTS_PER_MINUTE: "20" });
    await redis.crash();
    const statuses = await statusesOf(servers, 20);
    const passed = statuses.filter((status) => status === 200).length;
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(passed).toBeLessThanOrEqual(40); // Before a server knows of the other, its part is the whole.
    await redis.start();
    await expect
      .poll(async () => {
        const replies = [await create(servers[0] ?? fail()), await create(servers[1] ?? fail())];
        await Promise.all(replies.map((reply) => reply.text()));
        return replies.map(({ status }) => status);
      })
      .toEqual([200, 200]);
  },
);

function fail(): never {
  throw new Error("both servers were started");
}
