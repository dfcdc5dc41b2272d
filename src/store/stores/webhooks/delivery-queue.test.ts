import type { WebhookAttempt } from "@antiphon/contracts/responses-api/types.ts";
import type { DueDelivery } from "@antiphon/domain/webhooks.ts";
import { assert, expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { Store } from "../../open-store.ts";
import { openTestStore, runSql, temporaryFile, testStores } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";

const DAY = 86_400;
const NEW = {
  name: "Test",
  url: "https://example.com",
  eventTypes: ["response.completed"],
  secret: { sealedText: "sealed", hint: "…" },
} as const;
const FAILED: WebhookAttempt = { at: 1_000, duration_ms: 1, error: "not_accepted", status_code: 500 };
const AGAIN = { type: "again", pauseMs: 60_000 } as const;

async function newEndpoint({ webhooks }: Store): Promise<string> {
  return (await webhooks.endpoints.create(OURS, NEW))?.id ?? "";
}

async function claimed({ webhooks }: Store, except: readonly string[] = []): Promise<DueDelivery> {
  const claim = await webhooks.queue.claim(except);
  assert(claim.type === "due");
  return claim.delivery;
}

/** Ends a background run. */
async function endRun(store: Store, id: string): Promise<void> {
  const response = aResponse(id, { background: true, status: "completed" });
  await store.events.storeWhole({ owner: OURS, response, inputItems: [] }, [], { response, outputItems: [] });
}

testStores("an event is claimed by one server, the oldest first, but for endpoints that are busy", async () => {
  verifies("webhooks.sending.one-sender", "webhooks.sending.bounded");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const other = await openTestStore({ file });
  const first = await newEndpoint(store);
  const second = await newEndpoint(store);
  await endRun(store, "resp_1");
  const delivery = await claimed(store);
  expect(delivery).toMatchObject({ round: 0, event: { type: "response.completed", subjectId: "resp_1" } });
  const rest = [first, second].filter((id) => id !== delivery.address.endpointId);
  expect(await store.webhooks.queue.claim(rest)).toEqual({ type: "none", dueInMs: null });
  expect((await claimed(other)).address.endpointId).toBe(rest[0]);
  expect(await other.webhooks.queue.claim([])).toEqual({ type: "none", dueInMs: null });
});

testStores("a failed attempt is due again after its pause, and what a dead server sent is due at once", async () => {
  verifies("webhooks.crash.nothing-lost", "webhooks.retries.same-id");
  const file = temporaryFile();
  const dying = await openTestStore({ file });
  const living = await openTestStore({ file });
  await newEndpoint(living);
  await endRun(living, "resp_1");
  const delivery = await claimed(dying);
  await dying.close();
  const again = await claimed(living);
  expect(again.event).toEqual(delivery.event);
  expect(await living.webhooks.queue.settle(delivery, FAILED, AGAIN)).toBe(false); // The dead one has it no more.
  expect(await living.webhooks.queue.settle(again, FAILED, AGAIN)).toBe(true);
  const claim = await living.webhooks.queue.claim([]);
  assert(claim.type === "none" && claim.dueInMs !== null);
  expect(claim.dueInMs).toBeGreaterThan(50_000);
  expect(claim.dueInMs).toBeLessThanOrEqual(60_000);
  expect(await living.webhooks.queue.load()).toEqual({ waiting: 1, oldestDueMs: 0 });
});

testStores("an endpoint that has accepted nothing for five days is turned off with its deliveries", async () => {
  verifies("webhooks.endpoints.turned-off");
  const store = await openTestStore();
  const id = await newEndpoint(store);
  const find = () => store.webhooks.endpoints.find(OURS, id);
  for (const run of ["resp_1", "resp_2", "resp_3"]) await endRun(store, run);
  await store.webhooks.queue.settle(await claimed(store), FAILED, AGAIN);
  expect(await find()).toMatchObject({ status: "enabled", failing_since: 1_000 });
  await store.webhooks.queue.settle(await claimed(store), { ...FAILED, at: 1_000 + 5 * DAY }, AGAIN);
  expect(await find()).toMatchObject({ status: "disabled", disabled_reason: "failing", failing_since: 1_000 });
  const page = await store.webhooks.endpoints.listDeliveries(OURS, id, { limit: 10, order: "asc", after: null });
  expect(page?.entries.map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
  await endRun(store, "resp_4");
  expect(await store.webhooks.queue.claim([])).toEqual({ type: "none", dueInMs: null });
});

testStores("the latest attempts are listed, and an accepted one ends the failing", async () => {
  verifies("webhooks.deliveries.listed");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const id = await newEndpoint(store);
  await endRun(store, "resp_1");
  for (let at = 1; at <= 25; at++) {
    await store.webhooks.queue.settle(await claimed(store), { ...FAILED, at }, { type: "again", pauseMs: -1 });
  }
  const accepted = { at: 26, duration_ms: 2, error: null, status_code: 200 };
  await store.webhooks.queue.settle(await claimed(store), accepted, { type: "delivered" });
  const page = await store.webhooks.endpoints.listDeliveries(OURS, id, { limit: 10, order: "asc", after: null });
  expect(page?.entries).toMatchObject([{ status: "delivered", attempt_count: 26, next_attempt_at: null }]);
  expect(page?.entries[0]?.attempts.map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, index) => index + 7));
  expect(await store.webhooks.endpoints.find(OURS, id)).toMatchObject({ failing_since: null });
});

testStores("old deliveries are forgotten, and those of deleted endpoints at once", async () => {
  verifies("webhooks.deliveries.forgotten", "webhooks.endpoints.deleted-with-deliveries");
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const id = await newEndpoint(store);
  const other = await newEndpoint(store);
  await endRun(store, "resp_1");
  const count = async () => (await runSql(file, "select number from webhook_deliveries")).length;
  expect(await count()).toBe(2);
  expect(await store.webhooks.queue.deleteOld(1_000)).toBe(0);
  await store.webhooks.endpoints.delete(OURS, other);
  expect(await count()).toBe(1);
  expect(await store.webhooks.queue.deleteOld(Math.floor(Date.now() / 1000) + 10)).toBe(1);
  expect(await store.webhooks.endpoints.find(OURS, id)).not.toBeNull();
});
