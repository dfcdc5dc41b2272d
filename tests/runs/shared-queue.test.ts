import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { readLive } from "./live-stream.ts";
import { pollUntil } from "./poll.ts";

const SLOW = `
scenarios:
  - events: [{ text: slow }, { delay_ms: 1500 }, { text: " words" }]
`;
const SLOW_REQUEST = { model: "antiphon-built-in", input: "wait", background: true };

/** Servers that share a database and have one place each for background runs. */
async function servers(count: number, env: Readonly<Record<string, string>> = {}) {
  const url = await databaseOfTest();
  const started: TestServer[] = [];
  for (let server = 0; server < count; server += 1) {
    const next = await startTestServer({
      scenario: SLOW,
      env: { DATABASE_URL: url, API_KEYS: "sk-shared-by-all-servers", BACKGROUND_RUNS_MAX: "1", ...env },
    });
    started.push(next);
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  const makers = async (): Promise<number> => {
    const { rows } = await client.query<{ workers: string }>(
      "select count(distinct worker) as workers from responses where status = 'in_progress'",
    );
    return Number(rows[0]?.workers);
  };
  onTestFinished(() => client.end());
  return { servers: started, makers };
}

async function create(server: TestServer, body: object = {}): Promise<string> {
  return (await readResponse(await server.post("/v1/responses", { ...SLOW_REQUEST, ...body }))).id;
}

describe.skipIf(whyNoPostgres() !== undefined)("background runs of servers that share a database", () => {
  test("are taken by whichever server has room, and can be read from any", async () => {
    const {
      servers: [first, second],
      makers,
    } = await servers(2);
    if (first === undefined || second === undefined) throw new Error("a server is missing");
    const ids: string[] = [];
    for (let run = 0; run < 4; run += 1) ids.push(await create(first));
    await expect.poll(makers).toBe(2);
    for (const id of ids)
      expect(await pollUntil(second, id, "completed")).toMatchObject({
        output: [{ content: [{ text: "slow words" }] }],
      });
  });

  test("are streamed to their clients also if another server makes them", async () => {
    const {
      servers: [first],
    } = await servers(2);
    if (first === undefined) throw new Error("a server is missing");
    const streams = [];
    for (let run = 0; run < 3; run += 1)
      streams.push(readLive(await first.post("/v1/responses", { ...SLOW_REQUEST, stream: true })));
    for (const stream of streams) {
      const { events, final } = await stream.whole;
      expect(final).toMatchObject({ status: "completed", output: [{ content: [{ text: "slow words" }] }] });
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    }
  });

  test("are refused when as many wait as may wait, and are cancelled while they wait", async () => {
    const {
      servers: [only],
    } = await servers(1, { RUN_QUEUE_MAX: "1" });
    if (only === undefined) throw new Error("a server is missing");
    const [running, waiting] = [await create(only), await create(only)];
    await expect
      .poll(async () => (await only.post("/v1/responses", SLOW_REQUEST)).status, { interval: 300 })
      .toBeGreaterThanOrEqual(429);
    expect((await only.post(`/v1/responses/${waiting}/cancel`, {})).status).toBe(200);
    expect(await pollUntil(only, waiting, "cancelled", "completed")).toMatchObject({ status: "cancelled" });
    await pollUntil(only, running, "completed");
  });
});
