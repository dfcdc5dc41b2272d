import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Response as ResponseBody } from "../../generated/responses-api/types.ts";
import {
  lastChunk,
  type ReceivedCall,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { dataLines, readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { type KillableServer, startKillable } from "./killable-server.ts";

const TEST_TIMEOUT_MS = 60_000;

/** A model server that answers at once, but the input `wait` only when it is let go. */
async function serveModel() {
  const gate = Promise.withResolvers<void>();
  const model = await serveChat(async (response, call: ReceivedCall) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("Well ")));
    if (call.body.includes("wait")) await gate.promise;
    response.end(sse(textChunk("done"), lastChunk("stop"), "[DONE]"));
  });
  return { url: `${model.origin}/v1`, letGo: gate.resolve };
}

async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-takeover-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function start(...given: Parameters<typeof startKillable>): Promise<KillableServer> {
  const server = await startKillable(...given);
  onTestFinished(() => server.kill());
  return server;
}

async function enqueue(server: KillableServer, input: string): Promise<string> {
  const reply = await server.post("/v1/responses", { model: "m", input, background: true });
  return (await readResponse(reply)).id;
}

async function until(server: KillableServer, id: string, ...statuses: readonly string[]): Promise<ResponseBody> {
  for (;;) {
    const response = await readResponse(await server.fetch(`/v1/responses/${id}`));
    if (statuses.includes(response.status)) return response;
    await sleep(50);
  }
}

test(
  "a server that is stopped hands its waiting responses to the next, and the one that said something ends as failed",
  async () => {
    verifies("state.drain.background-is-taken-over");
    const [folder, model] = [await dataFolder(), await serveModel()];
    const first = await start(folder, model.url, { BACKGROUND_RUNS_MAX: "1", DRAIN_MS: "300" });
    const running = await enqueue(first, "wait");
    const waiting = await enqueue(first, "go");
    await until(first, running, "in_progress");
    await sleep(100); // Its first word is said.
    expect(await first.stop()).toBe(0);
    const second = await start(folder, model.url);
    expect((await until(second, waiting, "completed")).output).toMatchObject([{ content: [{ text: "Well done" }] }]);
    const failed = await until(second, running, "failed", "completed");
    expect(failed).toMatchObject({
      status: "failed",
      error: { code: "server_error" },
      output: [{ status: "incomplete" }],
    });
  },
  TEST_TIMEOUT_MS,
);

test(
  "of two servers on one database, the one that lost its lease writes nothing more of its runs",
  async () => {
    verifies("state.lease.fenced");
    const [folder, model] = [await dataFolder(), await serveModel()];
    const first = await start(folder, model.url);
    const second = await start(folder, model.url);
    const id = await enqueue(first, "wait");
    await until(second, id, "in_progress");
    await sleep(100);
    first.pause();
    expireLease(join(folder, "antiphon.db"));
    const failed = await until(second, id, "failed", "completed");
    expect(failed.status).toBe("failed");
    const events = async (server: KillableServer) =>
      dataLines(await (await server.fetch(`/v1/responses/${id}/events`)).text());
    const ended = await events(second);
    first.resume();
    model.letGo();
    await sleep(500); // The first one now hears its model finish.
    expect(await events(second)).toEqual(ended);
    expect(await events(first)).toEqual(ended);
    expect(await until(first, id, "failed", "completed")).toEqual(failed);
    expect((await until(first, await enqueue(first, "go"), "completed", "failed")).status).toBe("completed");
  },
  TEST_TIMEOUT_MS,
);

test(
  "a response that another server makes can be read along and cancelled",
  async () => {
    const [folder, model] = [await dataFolder(), await serveModel()];
    const maker = await start(folder, model.url);
    const other = await start(folder, model.url);
    const id = await enqueue(maker, "wait");
    await until(other, id, "in_progress");
    const attached = other.fetch(`/v1/responses/${id}/events`).then((reply) => reply.text());
    const cancelled = await other.post(`/v1/responses/${id}/cancel`, {});
    expect(await cancelled.json()).toMatchObject({ id, status: "cancelled" });
    expect(dataLines(await attached).at(-1)).toContain('"status":"cancelled"');
  },
  TEST_TIMEOUT_MS,
);

/** As if the first server had been away for longer than its lease. */
function expireLease(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("update workers set expires_at = 0 where id = (select min(id) from workers)");
  database.close();
}
