import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { serveModel } from "../crash/lives.ts";
import { dataLines, readUntil } from "../kit/event-stream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { type SeveralProcesses, startProcesses, TEST_TIMEOUT_MS } from "./several-processes.ts";

const READERS = 6;

async function begin(server: SeveralProcesses): Promise<string> {
  const { id } = await readResponse(
    await server.post("/v1/responses", { model: "m", input: "wait", background: true, metadata: {} }),
  );
  await server.makerOf(id);
  return id;
}

function events(server: SeveralProcesses, id: string): Promise<string[]> {
  return server.fetch(`/v1/responses/${id}/events`).then(async (reply) => dataLines(await reply.text()));
}

async function readAll<Reading>(read: () => Promise<Reading>): Promise<Reading[]> {
  return await Promise.all(Array.from({ length: READERS }, read));
}

test("a response is followed, replayed and read alike through every process", {
  timeout: TEST_TIMEOUT_MS,
}, async () => {
  verifies("operations.processes.runs-anywhere");
  const model = await serveModel();
  const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url } });
  const id = await begin(server);
  const followed = readAll(() => events(server, id));
  await readAll(() => server.fetch("/healthz"));
  model.release();
  const [first, ...others] = await followed;
  expect(first?.at(-1)).toContain('"type":"response.completed"');
  for (const other of others) expect(other).toEqual(first);
  expect(await readAll(() => events(server, id))).toEqual([first, ...others]);
  const read = await readAll(async () => await readResponse(await server.fetch(`/v1/responses/${id}`)));
  expect(new Set(read.map((response: ResponseBody) => JSON.stringify(response))).size).toBe(1);
  await expect.poll(() => new Set(server.answered())).toEqual(new Set([1, 2]));
});

test("a response is found through every process from its first event on", { timeout: TEST_TIMEOUT_MS }, async () => {
  verifies("operations.processes.runs-anywhere");
  const model = await serveModel();
  const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url } });
  for (let round = 0; round < 10; round++) {
    const stream = await server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "wait", stream: true, background: true }),
    });
    const id = /"id":"(resp_[0-9a-f]+)"/.exec(await readUntil(stream, "response.created"))?.[1];
    expect(id).toBeDefined();
    const found = await readAll(() => server.fetch(`/v1/responses/${id}`));
    expect(found.map(({ status }) => status)).toEqual(found.map(() => 200));
  }
  await expect.poll(() => new Set(server.answered())).toEqual(new Set([1, 2]));
});

test("a response is cancelled and deleted through every process", { timeout: TEST_TIMEOUT_MS }, async () => {
  verifies("operations.processes.runs-anywhere");
  const model = await serveModel();
  const server = await startProcesses(2, { env: { MODEL_BASE_URL: model.url } });
  for (let round = 0; round < 3; round++) {
    const id = await begin(server);
    const cancelled = await readResponse(await server.post(`/v1/responses/${id}/cancel`, {}));
    expect(cancelled.status).toBe("cancelled");
    const deleted = await server.fetch(`/v1/responses/${id}`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    const replies = await readAll(() => server.fetch(`/v1/responses/${id}`));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
  }
});
