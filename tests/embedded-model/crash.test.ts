import { readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { dataLines, readUntil } from "../kit/event-stream.ts";
import { isAlive } from "../kit/processes.ts";
import { killModel, modelPids, readProc } from "./model-pids.ts";
import { ENGINE, MODEL, modelSettings, startModelServer, tinyModelFile } from "./model-server.ts";

/** Seconds of work for the model of random weights. */
const LONG = { model: MODEL, temperature: 0, input: "Go on", max_output_tokens: 6000 } as const;
const SHORT = { ...LONG, max_output_tokens: 16 } as const;
const DELTA = "response.output_text.delta";

describe.skipIf(ENGINE === null)("the process of the language model", () => {
  test("may be killed in a stream, which fails after the part that came; the next request is answered", async () => {
    const server = await startModelServer();
    const reply = await server.post("/v1/responses", { ...LONG, stream: true });
    const [forReading, rest] = reply.body?.tee() ?? [];
    const begun = await readUntil(new Response(forReading), DELTA);
    await killModel();
    expect(begun).toContain(DELTA);
    expect(await new Response(rest).text()).toContain("event: response.failed");
    expect(await server.client.responses.create(SHORT)).toMatchObject({ status: "incomplete", error: null });
  });

  test("may be killed in a background response, which goes on where it was", async () => {
    const server = await startModelServer();
    const request = { ...LONG, max_output_tokens: 2000, background: true, stream: true };
    const begun = await readUntil(await server.post("/v1/responses", request), DELTA);
    await killModel();
    const id = /"id":"(resp_\w+)"/.exec(begun)?.[1] ?? "";
    await expect.poll(async () => (await server.client.responses.retrieve(id)).status, LONG_POLL).toBe("incomplete");
    const mended = await server.client.responses.retrieve(id);
    expect(mended.output_text.length).toBeGreaterThan(1900); // The tokens of the first part are estimated.
    expect(mended.output_text.startsWith(shownText(begun))).toBe(true);
  });

  test("may be killed while others wait for a slot, who are then answered", async () => {
    const server = await startModelServer({ MODEL_SLOTS: "1" });
    const reply = await server.post("/v1/responses", { ...LONG, stream: true });
    await readUntil({ body: reply.body?.tee()[0] ?? null }, DELTA);
    const waiting = [1, 2, 3].map((count) => server.client.responses.create({ ...SHORT, input: `I am ${count}` }));
    await killModel();
    for (const response of await Promise.all(waiting)) expect(response.output_text).toHaveLength(16);
  });

  test("is not ready while it loads: requests wait, then get 503 with a time", async () => {
    const server = await startModelServer({ MODEL_CONNECT_TIMEOUT_MS: "300" });
    expect((await server.fetch("/readyz")).status).toBe(200);
    const next = await killModel();
    process.kill(next, "SIGSTOP");
    expect(await (await server.fetch("/readyz")).json()).toMatchObject({ checks: { model: "unavailable" } });
    const refused = await server.post("/v1/responses", SHORT);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    process.kill(next, "SIGCONT");
    await expect.poll(async () => (await server.fetch("/readyz")).status, LONG_POLL).toBe(200);
    expect((await server.post("/v1/responses", SHORT)).status).toBe(200);
  });

  test("that ends at every start is given up for a while, with the reason", async () => {
    const server = await startModelServer({ MODEL_CONNECT_TIMEOUT_MS: "200" });
    const isGivenUp = async (): Promise<boolean> => {
      for (const pid of modelPids()) process.kill(pid, "SIGKILL");
      const reply = await server.post("/v1/responses", SHORT);
      return (await reply.text()).includes("The process of the embedded model ended with signal 9");
    };
    await expect.poll(isGivenUp, LONG_POLL).toBe(true);
    expect((await server.fetch("/readyz")).status).toBe(503);
    expect((await server.fetch("/healthz")).status).toBe(200);
  });

  test("ends a turn within a step when its client leaves, and takes no more than its line", async () => {
    const server = await startModelServer({ MODEL_SLOTS: "1", MODEL_QUEUE_MAX: "0" });
    const reply = await server.post("/v1/responses", { ...LONG, stream: true });
    const [forReading, rest] = reply.body?.tee() ?? [];
    await readUntil(new Response(forReading), DELTA);
    const refused = await server.post("/v1/responses", SHORT);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).not.toBeNull();
    await rest?.cancel();
    await expect.poll(async () => (await server.post("/v1/responses", SHORT)).status).toBe(200);
  });

  test("has no settings of ours, and no network where the system can take it away", async () => {
    await startModelServer();
    const [pid = 0] = modelPids();
    const names = readProc(pid, "environ")
      .split("\0")
      .map((pair) => pair.split("=")[0]);
    expect(
      names.filter((name) => !["", "PWD", "OLDPWD", "SHLVL", "_", "GGML_NO_BACKTRACE"].includes(name ?? "")),
    ).toEqual([]);
    if (!readProc(pid, "status").includes("Name:")) throw new Error("the process has gone");
    const isSeparate = readlinkSync(`/proc/${pid}/ns/net`) !== readlinkSync("/proc/self/ns/net");
    const routes = readProc(pid, "net/route").trim().split("\n").slice(1);
    expect(isSeparate ? routes : []).toEqual([]);
  });

  test("ends with the server, however that ends", async () => {
    const server = await startChildServer({ env: modelSettings(await tinyModelFile()) });
    const [pid = 0] = modelPids(server.pid);
    expect(isAlive(pid)).toBe(true);
    await server.kill();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

/** The text in the deltas of a stream. */
function shownText(stream: string): string {
  const events = dataLines(stream).map((line) => JSON.parse(line));
  return events.map(({ type, delta }) => (type === DELTA ? delta : "")).join("");
}

/** Several starts of the child on a busy machine. */
const LONG_POLL = { timeout: 60_000, interval: 100 } as const;
