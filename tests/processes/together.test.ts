import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../verifies.ts";
import { scrape, startProcesses, TEST_TIMEOUT_MS } from "./several-processes.ts";

const SCENARIO = "models: [m]\nscenarios: [{ events: [{ text: Hello }] }]";
const CREATED = 'antiphon_http_requests_total{operation="createResponse",status="200"}';

describe("several processes", { timeout: TEST_TIMEOUT_MS }, () => {
  test("print one banner, serve one port in turns, and write whole lines that name the process", async () => {
    verifies("operations.processes.one-server");
    const server = await startProcesses(2, { scenario: SCENARIO });
    expect(server.pids()).toHaveLength(2);
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => server.post("/v1/responses", { model: "m", input: "Hi" })),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    await expect.poll(() => server.answered().length).toBe(8);
    expect(new Set(server.answered())).toEqual(new Set([1, 2]));
    await expect.poll(() => server.said()).toContain("Processes          2");
    await expect.poll(() => server.said()).toContain("Code does not run");
    const lines = server.said().trim().split("\n");
    expect(lines.filter((line) => line.startsWith("Responses API"))).toHaveLength(1);
    expect(lines.filter((line) => !line.startsWith("{"))).toEqual([
      expect.stringMatching(/^Responses API +http:\/\/127\.0\.0\.1:\d+\/v1/),
      expect.stringMatching(/^Inspector +http:\/\/127\.0\.0\.1:\d+\/inspector$/),
      expect.stringMatching(/^Speech to text +http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^Chat lab +http:\/\/127\.0\.0\.1:\d+\/demo$/),
      expect.stringMatching(/^Answers come from /),
      expect.stringMatching(/^File search goes +by words; /),
      "API key            one of API_KEYS",
      "Processes          2",
      expect.stringMatching(/^Code does not run /),
    ]);
    for (const line of lines.filter((each) => each.startsWith("{"))) expect(() => JSON.parse(line)).not.toThrow();
    expect(await server.stop()).toBe(0);
  });

  test("make the first key once", async () => {
    verifies("operations.processes.one-server");
    const server = await startProcesses(3, { env: { API_KEYS: "" } });
    await expect.poll(() => server.said()).toContain("Processes          3");
    expect(server.said().match(/API key /g)).toHaveLength(1);
    const key = /sk-antiphon-\w+/.exec(server.said())?.[0];
    for (let call = 0; call < 9; call++)
      expect((await server.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    await expect.poll(() => new Set(server.answered()).size).toBe(3);
  });

  test.each([9, 90])("let exactly a limit of %i requests through together", async (limit) => {
    verifies("operations.processes.counted-together");
    const server = await startProcesses(2, {
      scenario: SCENARIO,
      env: { RATE_LIMIT_REQUESTS_PER_MINUTE: String(limit) },
    });
    const statuses: number[] = [];
    for (let round = 0; round * 10 < limit + 20; round++) {
      const replies = await Promise.all(
        Array.from({ length: 10 }, () => server.post("/v1/responses", { model: "m", input: "Hi" })),
      );
      statuses.push(...replies.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(limit);
    expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - limit);
    expect(new Set(server.answered())).toEqual(new Set([1, 2]));
  });

  test("show the same metrics, whichever answers, and lose none of them when one dies", async () => {
    verifies("operations.processes.counted-together");
    const server = await startProcesses(2, { scenario: SCENARIO });
    for (let request = 0; request < 6; request++)
      await (await server.post("/v1/responses", { model: "m", input: "Hi" })).text();
    for (let reader = 0; reader < 4; reader++) {
      const series = await scrape(server);
      expect(series.get(CREATED)).toBe(6);
      expect(series.get('antiphon_runs_ended_total{mode="foreground",status="completed"}')).toBe(6);
      expect(series.get('antiphon_run_duration_seconds_count{mode="foreground"}')).toBe(6);
    }
    const before = server.pids();
    process.kill(before[0] ?? 0, "SIGKILL");
    await expect.poll(() => server.pids().filter((pid) => !before.includes(pid)).length).toBe(1);
    for (let reader = 0; reader < 4; reader++) expect((await scrape(server)).get(CREATED)).toBe(6);
  });

  test("end with one message if the port is taken", async () => {
    verifies("operations.processes.one-server");
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once("listening", resolve));
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const failed = startProcesses(2, { env: { PORT: String(port) } });
    await expect(failed).rejects.toThrow(/Cannot serve: .*EADDRINUSE.*HOST, PORT and STT_PORT select other addresses/);
  });
});
