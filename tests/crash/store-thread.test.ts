import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { readResponse } from "../responses/read-stream.ts";
import { trialSize } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { checkClientView, checkConversation, conversationOf, nothingSeen } from "./check-client-view.ts";
import { ask, type ClientView, KINDS } from "./client.ts";
import { start } from "./lives.ts";
import { serveTalkingModel } from "./talking-model.ts";

const BREAKER = fileURLToPath(new URL("break-store-thread.fixture.ts", import.meta.url));
/** Every so many messages the process is killed, to save time; 1 kills it at every one. */
const STEP = trialSize("CRASH_MESSAGE_STEP", { all: 3, short: 96 });
/** More messages than a life below sends. */
const MESSAGES_MAX = 200;
const TEST_TIMEOUT_MS = 900_000;

function startBreakable(folder: string, modelUrl: string, killAt = ""): Promise<ChildServer> {
  return startChildServer({
    env: { NODE_ENV: "production", DATA_DIR: folder, MODEL_BASE_URL: modelUrl, KILL_AT: killAt },
    flags: ["--import", BREAKER],
  });
}

/** One request of each kind at once. Resolves when all have ended, or the server has. */
function askAll(server: ChildServer, conversation: string, onId?: () => void): Promise<readonly ClientView[]> {
  return Promise.all(KINDS.map((kind) => ask(server, kind, conversation, { onId })));
}

test.each(["sent", "answered"])(
  "a process killed at any message %s between loop and store thread has lost nothing that it showed",
  async (direction) => {
    verifies("state.crash.killed-at-any-message");
    const [folder, model] = [temporaryFolder(), await serveTalkingModel()];
    const modelUrl = `${model.origin}/v1`;
    const first = await start(folder, modelUrl);
    const conversation = await conversationOf(first);
    await first.stop();
    let kills = 0;
    for (let message = 1; message < MESSAGES_MAX; message += STEP) {
      const server = await startBreakable(folder, modelUrl, `${direction} ${message}`).catch(() => null);
      const clientViews = server === null ? [] : await askAll(server, conversation);
      const wasKilled = server === null || !(await isAlive(server));
      await server?.kill();
      const after = await start(folder, modelUrl);
      for (const clientView of clientViews) await checkClientView(after, clientView, nothingSeen());
      await checkConversation(after, conversation);
      await after.stop();
      if (!wasKilled) break;
      kills += 1;
    }
    expect(kills).toBeGreaterThan(Math.floor(10 / STEP));
    expect(await query(folder, "select id from responses where status in ('queued', 'in_progress')")).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);

async function isAlive(server: ChildServer): Promise<boolean> {
  return await server.fetch("/healthz").then(
    ({ ok }) => ok,
    () => false,
  );
}

test("a store thread that ends is started again, and its runs are recovered as after a crash", async () => {
  verifies("state.crash.store-thread-ends");
  const [folder, model] = [temporaryFolder(), await serveTalkingModel()];
  const server = await startBreakable(folder, `${model.origin}/v1`);
  const conversation = await conversationOf(server);
  const begun = Promise.withResolvers<void>();
  const asked = Promise.all([askAll(server, conversation, begun.resolve), askAll(server, conversation)]);
  await begun.promise;
  process.kill(server.pid, "SIGUSR2");
  const clientViews = (await asked).flat();
  await expect.poll(() => statusOf(server, "/readyz"), { timeout: 20_000 }).toBe(200);
  await expect
    .poll(() => query(folder, "select id from responses where status in ('queued', 'in_progress')"), {
      timeout: 30_000,
    })
    .toEqual([]);
  for (const clientView of clientViews) await checkClientView(server, clientView, nothingSeen());
  await checkConversation(server, conversation);
  const reply = await server.post("/v1/responses", { model: "m", input: "Hello again" });
  expect((await readResponse(reply)).status).toBe("completed");
}, 120_000);

async function statusOf(server: ChildServer, path: string): Promise<number> {
  return (await server.fetch(path)).status;
}

test("a process whose store thread ends twice ends too, and a new one continues", async () => {
  const [folder, model] = [temporaryFolder(), await serveTalkingModel()];
  const server = await startBreakable(folder, `${model.origin}/v1`);
  const conversation = await conversationOf(server);
  process.kill(server.pid, "SIGUSR2");
  await expect.poll(() => statusOf(server, "/readyz"), { timeout: 20_000 }).toBe(200);
  const begun = Promise.withResolvers<void>();
  const asked = askAll(server, conversation, begun.resolve);
  await begun.promise;
  process.kill(server.pid, "SIGUSR2");
  const clientViews = await asked;
  await expect.poll(() => isAlive(server), { timeout: 20_000 }).toBe(false);
  expect(server.complaints()).toContain("The store thread ended and cannot be started again.");
  const after = await start(folder, `${model.origin}/v1`);
  for (const clientView of clientViews) await checkClientView(after, clientView, nothingSeen());
  await checkConversation(after, conversation);
}, 120_000);
