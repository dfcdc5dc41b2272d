import { setTimeout as sleep } from "node:timers/promises";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import type { ChildServer } from "../kit/child-server.ts";
import { dataLines } from "../kit/event-stream.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { enqueue, expireLease, serveModel, start, until } from "./lives.ts";

const TEST_TIMEOUT_MS = 120_000;

function textOf({ output }: Response): string {
  return output
    .flatMap((item) => (item.type === "message" ? item.content : []))
    .map((part) => ("text" in part ? part.text : ""))
    .join("");
}

test(
  "a stopped server leaves its background responses to the next one, which goes on with those that had begun",
  async () => {
    verifies("state.drain.background-is-taken-over");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const first = await start(folder, model.url, { BACKGROUND_RUNS_MAX: "1", DRAIN_MS: "300" });
    const running = await enqueue(first, "wait");
    const waiting = await enqueue(first, "go");
    await until(first, running, "in_progress");
    await sleep(100); // Its first word is sent.
    expect(await first.stop()).toBe(0);
    const second = await start(folder, model.url);
    expect((await until(second, waiting, "completed")).output).toMatchObject([{ content: [{ text: "Well done" }] }]);
    model.release();
    const ended = await until(second, running, "failed", "completed");
    expect(ended).toMatchObject({ status: "completed", output: [{ status: "completed" }] });
    expect(textOf(ended)).toBe("Well done");
  },
  TEST_TIMEOUT_MS,
);

test(
  "of two servers on one database, the one that lost its lease writes nothing more to its runs",
  async () => {
    verifies("state.lease.fenced");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const first = await start(folder, model.url);
    const second = await start(folder, model.url);
    const id = await enqueue(first, "wait");
    await until(second, id, "in_progress");
    await sleep(100);
    first.pause();
    const asked = model.turns();
    await expireLease(folder);
    while (model.turns() === asked) await sleep(10); // The second server has taken the response.
    first.resume();
    model.release();
    const completed = await until(second, id, "failed", "completed");
    expect(completed.status).toBe("completed");
    expect(textOf(completed)).toBe("Well done");
    const events = async (server: ChildServer) =>
      dataLines(await (await server.fetch(`/v1/responses/${id}/events`)).text());
    const ended = await events(second);
    await sleep(500); // The first server has received the end of its model's answer, too.
    expect(await events(second)).toEqual(ended);
    expect(await events(first)).toEqual(ended);
    expect(await until(first, id, "failed", "completed")).toEqual(completed);
    expect((await until(first, await enqueue(first, "go"), "completed", "failed")).status).toBe("completed");
  },
  TEST_TIMEOUT_MS,
);

test(
  "a response made by another server can be followed and cancelled",
  async () => {
    const [folder, model] = [temporaryFolder(), await serveModel()];
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

test(
  "clients waiting for a response learn its end from another server that ends it",
  async () => {
    verifies("state.lease.readers-follow");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const first = await start(folder, model.url);
    await start(folder, model.url);
    const runsUnderWay = async () =>
      (await query(folder, "select id from responses where status = 'in_progress'")).length;
    const create = (members: object) => first.post("/v1/responses", { model: "m", input: "wait", ...members });
    const plain = create({});
    const streamed = create({ stream: true });
    const unstored = create({ stream: true, store: false });
    const attached = create({ background: true, stream: true });
    while (model.calls() < 4) await sleep(10);
    // The plain one is stored once it has taken long.
    while ((await runsUnderWay()) < 3) await sleep(50);
    await sleep(300); // Their first words are sent.
    first.pause();
    await expireLease(folder);
    while ((await runsUnderWay()) > 1) await sleep(50); // The background response goes on.
    first.resume();
    const failed = { status: "failed", error: { code: "server_error" } };
    expect(await readResponse(await plain)).toMatchObject(failed);
    expect((await readStream(await streamed)).final).toMatchObject(failed);
    model.release();
    expect((await readStream(await attached)).final).toMatchObject({ status: "completed" });
    expect((await readStream(await unstored)).final).toMatchObject({ status: "completed" });
  },
  TEST_TIMEOUT_MS,
);

test(
  "a draining server keeps its lease",
  async () => {
    verifies("state.drain.lease-is-kept");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const server = await start(folder, model.url, { DRAIN_MS: "30000" });
    const id = await enqueue(server, "wait");
    await until(server, id, "in_progress");
    const stopped = server.stop();
    const leaseEnd = async () => Number((await query(folder, "select expires_at from workers"))[0]?.["expires_at"]);
    // The first renewal may have begun before the server was stopped.
    for (let renewal = 0; renewal < 2; renewal += 1) {
      const before = await leaseEnd();
      await expect.poll(leaseEnd, { timeout: 20_000 }).toBeGreaterThan(before);
    }
    model.release();
    expect(await stopped).toBe(0);
    expect(await query(folder, "select status from responses")).toMatchObject([{ status: "completed" }]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a second stop of a server has no further effect",
  async () => {
    verifies("state.drain.lease-is-kept");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const server = await start(folder, model.url, { DRAIN_MS: "500" });
    await enqueue(server, "wait");
    expect(await Promise.all([server.stop("SIGTERM"), server.stop("SIGINT")])).toEqual([0, 0]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a response deleted through another server is stopped, even while its model is silent",
  async () => {
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const maker = await start(folder, model.url);
    const other = await start(folder, model.url);
    const id = await enqueue(maker, "wait");
    await until(other, id, "in_progress");
    await sleep(100);
    const closed = model.closed();
    expect((await other.fetch(`/v1/responses/${id}`, { method: "DELETE" })).status).toBe(200);
    await closed;
  },
  TEST_TIMEOUT_MS,
);
