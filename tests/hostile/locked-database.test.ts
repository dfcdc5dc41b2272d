import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { lockDatabase } from "../lock-database.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const LOCKED_MS = 3_000;
/** The fewest answers expected of a waiting server, out of about sixty calls. */
const ANSWERS_MIN = 20;

async function startServer(env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder();
  const server = await startChildServer({ env: { DATA_DIR: folder, ...env } });
  const create = (members: object = {}) => server.post("/v1/responses", { model: MODEL, input: "Hi", ...members });
  return { server, create, lock: () => lockDatabase(join(folder, "antiphon.db")) };
}

const speechUrl = (server: ChildServer): string => /Speech to text\s+(http:\S+)/.exec(server.said())?.[1] ?? "";

/** Counts the answers of a URL within a time. It is called every 50 ms, one call after the other. */
async function countAnswers(url: string, ms: number): Promise<number> {
  const end = performance.now() + ms;
  let answers = 0;
  while (performance.now() < end) {
    if ((await fetch(url)).status === 200) answers += 1;
    await sleep(50);
  }
  return answers;
}

test("while another process locks the database, the server answers, reads, and stores as soon as it can", async () => {
  verifies("state.lock.others-do-not-stop-the-server");
  const { server, create, lock } = await startServer();
  const before = await readResponse(await create());
  const unlock = await lock();
  let isMade = false;
  const waiting = create().finally(() => (isMade = true));
  const [here, speech] = await Promise.all([
    countAnswers(`${server.url}/healthz`, LOCKED_MS),
    countAnswers(`${speechUrl(server)}/healthz`, LOCKED_MS),
  ]);
  expect(here).toBeGreaterThan(ANSWERS_MIN);
  expect(speech).toBeGreaterThan(ANSWERS_MIN);
  expect((await server.fetch(`/v1/responses/${before.id}`)).status).toBe(200);
  expect(isMade).toBe(false);
  await unlock();
  expect((await readResponse(await waiting)).status).toBe("completed");
});

test("a write that waits too long for a lock gets 503 and changes nothing, and later writes succeed", async () => {
  verifies("state.lock.wait-is-bounded");
  const { server, create, lock } = await startServer({ DATABASE_LOCK_WAIT_MS: "300" });
  const conversation = await (await server.post("/v1/conversations", {})).json();
  const unlock = await lock();
  for (const reply of [
    await create(),
    await create({ background: true }),
    await server.post("/v1/conversations", {}),
  ]) {
    expect(reply.status).toBe(503);
    expect(reply.headers.get("retry-after")).toBe("1");
    expect((await reply.json()).error).toMatchObject({
      code: "server_is_overloaded",
      message: expect.stringContaining("locked by another process"),
    });
  }
  await unlock();
  const made = await readResponse(await create({ conversation: conversation.id }));
  expect(made.status).toBe("completed");
  const items = await (await server.fetch(`/v1/conversations/${conversation.id}/items`)).json();
  expect(items.data).toHaveLength(2);
});
