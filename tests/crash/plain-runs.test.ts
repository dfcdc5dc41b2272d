import { setTimeout as sleep } from "node:timers/promises";
import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { ResponseFold } from "../../src/runs/index.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { dataLines } from "../kit/event-stream.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { readResponse } from "../responses/read-stream.ts";
import { trialSize } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { ask } from "./client.ts";
import { serveModel, start, until } from "./lives.ts";
import { serveTalkingModel } from "./talking-model.ts";

/** CI sets a lower number to save time. */
const KILLS = Math.ceil(trialSize("CRASH_KILLS", { all: 50, short: 5 }) / 2);
const RUNS_AT_ONCE = 20;
/** These are under way at each kill. */
const ENDLESS_RUNS = 2;
const TEST_TIMEOUT_MS = 600_000;

test(
  `${KILLS} kills under ${RUNS_AT_ONCE} plain requests leave each response whole or not at all`,
  async () => {
    verifies("state.crash.plain-is-whole-or-absent");
    const [folder, model] = [temporaryFolder(), await serveTalkingModel()];
    const startAgain = () => start(folder, `${model.origin}/v1`);
    let server = await startAgain();
    const checked = new Set<string>();
    let broken = 0;
    for (let round = 0; round < KILLS; round++) {
      const answered = await killUnderway(server);
      broken += RUNS_AT_ONCE - answered.length;
      const stored = (await query(folder, "select id from responses")).map(({ id }) => String(id));
      expect(stored).toEqual(expect.arrayContaining(answered));
      server = await startAgain();
      for (const id of answered) expect(await checkWhole(server, id)).toBe("completed");
      for (const id of stored.filter((other) => !checked.has(other))) await checkWhole(server, id);
      for (const id of stored) checked.add(id);
    }
    expect(broken).toBeGreaterThan(0);
  },
  TEST_TIMEOUT_MS,
);

/** Kills the server while it answers. Returns the ids of the responses that clients got: never of the endless ones. */
async function killUnderway(server: ChildServer): Promise<string[]> {
  const enough = Promise.withResolvers<void>();
  let missing = Math.ceil(((RUNS_AT_ONCE - ENDLESS_RUNS) * Math.random()) / 2);
  const asked = Array.from({ length: RUNS_AT_ONCE }, async (_, index) => {
    const { id } = await ask(server, "foreground", "", index < ENDLESS_RUNS ? { input: "endless" } : {});
    missing -= 1;
    if (missing === 0) enough.resolve();
    return id;
  });
  await enough.promise;
  await server.kill();
  return (await Promise.all(asked)).filter((id) => id !== null);
}

/**
 * The body, the items and the events of a response agree. Returns its status: only one that took long may be failed.
 */
async function checkWhole(server: ChildServer, id: string): Promise<string> {
  const path = `/v1/responses/${id}`;
  const { billing: _billing, ...response } = await readResponse(await server.fetch(path));
  expect(["completed", "failed"]).toContain(response.status);
  const lines = dataLines(await (await server.fetch(`${path}/events?dialect=reference`)).text());
  const fold = new ResponseFold();
  for (const [number, line] of lines.entries()) {
    const event: ResponseStreamEvent = JSON.parse(line);
    expect(event.sequence_number).toBe(number);
    fold.apply(event);
  }
  expect(fold.response).toEqual(response);
  const items: { readonly data: readonly object[] } = await (await server.fetch(`${path}/input_items`)).json();
  expect(items.data).toMatchObject([{ role: "user" }]);
  return response.status;
}

test(
  "a killed server leaves nothing of a plain response that was young, and ends an older one as failed",
  async () => {
    verifies("state.crash.plain-is-whole-or-absent");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const rows = () => query(folder, "select id, status from responses");
    const first = await start(folder, model.url);
    const young = first.post("/v1/responses", { model: "m", input: "wait" }).catch(() => null);
    while (model.calls() === 0) await sleep(5);
    await sleep(100);
    await first.kill();
    expect(await young).toBeNull();
    const second = await start(folder, model.url);
    expect(await rows()).toEqual([]);
    const older = second.post("/v1/responses", { model: "m", input: "wait" }).catch(() => null);
    while ((await rows()).length === 0) await sleep(50);
    await second.kill();
    expect(await older).toBeNull();
    const third = await start(folder, model.url);
    const id = String((await rows())[0]?.["id"]);
    const failed = await until(third, id, "failed", "completed");
    expect(failed).toMatchObject({ status: "failed", error: { code: "server_error" } });
    expect(failed.output).toMatchObject([{ status: "incomplete", content: [{ text: "Well " }] }]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a server that is told to stop stores its plain responses, so that another one ends them if it is killed",
  async () => {
    verifies("state.drain.plain-is-stored");
    const [folder, model] = [temporaryFolder(), await serveModel()];
    const rows = () => query(folder, "select id, status from responses");
    const first = await start(folder, model.url, { DRAIN_MS: "60000" });
    const asked = first.post("/v1/responses", { model: "m", input: "wait" }).catch(() => null);
    while (model.calls() === 0) await sleep(5);
    const stopped = first.stop();
    while ((await rows()).length === 0) await sleep(20);
    await Promise.all([first.kill(), asked, stopped]);
    const second = await start(folder, model.url);
    expect((await until(second, String((await rows())[0]?.["id"]), "failed", "completed")).status).toBe("failed");
  },
  TEST_TIMEOUT_MS,
);
