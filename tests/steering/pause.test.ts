import { expect, test } from "vitest";
import { serveModel } from "../crash/lives.ts";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { begin, change, ended, find, heldWorld, paused } from "./held-world.ts";

test("a paused response ends its calls, asks for no turn, is held by nobody, and goes on when it is resumed", async () => {
  verifies("responses.pause.stops-between-turns", "responses.pause.holds-nothing");
  const world = await heldWorld();
  const folder = temporaryFolder();
  const server = await startChildServer({ env: { ...world.env, DATA_DIR: folder } });
  const id = await begin(server, world.ask(2));
  await expect.poll(world.begun).toBe(1);
  const pausing = await change(server, id, "pause");
  expect(pausing).toMatchObject({ status: "in_progress", pause: { status: "pausing", since: expect.any(Number) } });
  world.release();
  await paused(server, id);
  expect(world.turns).toHaveLength(1);
  expect(await query(folder, "select worker from responses where id = ?", id)).toEqual([{ worker: null }]);
  expect(await (await server.fetch("/metrics")).text()).toMatch(/^antiphon_runs_running\{mode="background"\} 0$/m);
  const other = await begin(server, world.ask(0));
  expect((await ended(server, other)).status).toBe("completed"); // The place is free.
  const resumed = await change(server, id, "resume");
  expect(resumed.pause).toBeUndefined();
  const response = await ended(server, id);
  expect([response.status, world.begun()]).toEqual(["completed", 2]);
  const stream = await readStream(await server.fetch(`/v1/responses/${id}/events?dialect=reference`));
  expect(stream.events.map(({ sequence_number: number }) => number)).toEqual(stream.events.map((_, index) => index));
  expect(response.output.filter(({ type }) => type === "mcp_call")).toHaveLength(2);
});

test("a paused response stays so over kill -9 and a restart, and goes on from its recorded turns", async () => {
  verifies("responses.pause.survives-restarts");
  const world = await heldWorld();
  const env = { ...world.env, DATA_DIR: temporaryFolder() };
  const first = await startChildServer({ env });
  const id = await begin(first, world.ask(1));
  await expect.poll(world.begun).toBe(1);
  await change(first, id, "pause");
  world.release();
  await paused(first, id);
  await first.kill();
  const second = await startChildServer({ env });
  const later = await begin(second, world.ask(0)); // Runs are claimed before this one ends.
  await ended(second, later);
  expect((await find(second, id)).pause?.status).toBe("paused");
  const asked = world.turns.length;
  await change(second, id, "resume");
  expect((await ended(second, id)).status).toBe("completed");
  expect([world.begun(), world.turns.length]).toEqual([1, asked + 1]);
});

test("a server that dies while a response waits for its call leaves it paused", async () => {
  verifies("responses.pause.survives-restarts");
  const world = await heldWorld();
  const env = { ...world.env, DATA_DIR: temporaryFolder(), LEASE_MS: "3000" };
  const first = await startChildServer({ env });
  const id = await begin(first, world.ask(1));
  await expect.poll(world.begun).toBe(1);
  await change(first, id, "pause");
  await first.kill();
  world.release();
  const second = await startChildServer({ env });
  await paused(second, id);
  expect(world.turns).toHaveLength(1);
  await change(second, id, "resume");
  expect((await ended(second, id)).status).toBe("completed");
  expect(world.begun()).toBe(1); // Whether it took effect is not known, so it is not made again.
});

test("a paused response can be cancelled, and one that waits for a place can be paused", async () => {
  verifies("responses.pause.cancel", "responses.pause.while-queued");
  const model = await serveModel();
  const env = { MODEL_BASE_URL: model.url, BACKGROUND_RUNS_MAX: "1", DATA_DIR: temporaryFolder() };
  const server = await startChildServer({ env });
  const busy = await begin(server, { model: "m", input: "wait", background: true });
  await expect.poll(model.turns).toBe(1);
  const [waiting, unwanted] = [await queue(), await queue()];
  for (const id of [waiting, unwanted]) {
    expect((await change(server, id, "pause")).status).toBe("queued");
    await paused(server, id);
  }
  expect((await change(server, unwanted, "cancel")).status).toBe("cancelled");
  model.release();
  expect((await ended(server, busy)).status).toBe("completed");
  expect(await ended(server, await queue())).toMatchObject({ status: "completed" });
  expect(await find(server, waiting)).toMatchObject({ status: "queued", pause: { status: "paused" } });
  await change(server, waiting, "resume");
  expect((await ended(server, waiting)).status).toBe("completed");

  function queue(): Promise<string> {
    return begin(server, { model: "m", input: "Hi", background: true });
  }
});

test("a response that was paused for more than 30 days is cancelled", async () => {
  verifies("responses.pause.cancel");
  const world = await heldWorld();
  const folder = temporaryFolder();
  const env = { ...world.env, DATA_DIR: folder };
  const first = await startChildServer({ env });
  const [old, young] = [await begin(first, world.ask(1)), await begin(first, world.ask(1))];
  await expect.poll(world.begun).toBe(2);
  for (const id of [old, young]) await change(first, id, "pause");
  world.release();
  for (const id of [old, young]) await paused(first, id);
  await first.stop();
  const since = Math.floor(Date.now() / 1000) - 31 * 86_400;
  await query(folder, "update responses set paused_at = ? where id = ?", since, old);
  const second = await startChildServer({ env });
  expect((await ended(second, old)).status).toBe("cancelled");
  expect((await find(second, young)).pause?.status).toBe("paused");
});

test("a response that has ended, or that was made in the foreground, cannot be paused", async () => {
  verifies("responses.pause.refused");
  const world = await heldWorld();
  const server = await startChildServer({ env: world.env });
  const over = await begin(server, world.ask(0));
  await ended(server, over);
  const foreground = await begin(server, world.ask(0, { background: false }));
  const codeOf = async (id: string, what: string): Promise<unknown> => {
    const reply = await server.post(`/v1/responses/${id}/${what}`, {});
    const { error }: { error?: { code: string | null } } = JSON.parse(await reply.text());
    return [reply.status, error?.code];
  };
  for (const what of ["pause", "resume"]) {
    expect(await codeOf(over, what)).toEqual([400, "response_not_active"]);
    expect(await codeOf(foreground, what)).toEqual([400, "pause_not_supported"]);
    expect(await codeOf("resp_unknown", what)).toEqual([404, "invalid_request_error"]);
  }
});
