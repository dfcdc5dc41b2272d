import { silentLogger } from "@antiphon/base/logger.ts";
import type { WebhookQueue } from "@antiphon/domain/webhooks.ts";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { openTestStore, testStores } from "../store/store.fixture.ts";
import { aResponse, OURS } from "../store/stored-shapes.fixture.ts";
import { afterAttempt, WebhookSender } from "./webhook-sender.ts";

const FAILED = { at: 0, duration_ms: 1, error: "not_accepted", status_code: 500 } as const;
const HOUR_MS = 3_600_000;

/** The pauses until an event is given up. */
function pauses(random: number): readonly number[] {
  const all: number[] = [];
  for (;;) {
    const next = afterAttempt(FAILED, all.length, random);
    if (next.type !== "again") return all;
    all.push(next.pauseMs);
  }
}

test("the pauses between attempts grow, and end after about 72 hours", () => {
  verifies("webhooks.retries.growing-pauses");
  const all = pauses(0.5);
  expect(all[0]).toBe(5_000);
  const growing = all.slice(0, -1);
  expect(growing).toEqual(growing.toSorted((one, other) => one - other));
  const hours = all.reduce((sum, pause) => sum + pause, 0) / HOUR_MS;
  expect(hours).toBeGreaterThan(70);
  expect(hours).toBeLessThanOrEqual(72);
});

test("events that failed together return at different times", () => {
  verifies("webhooks.retries.growing-pauses");
  expect([pauses(0)[0], pauses(1)[0]]).toEqual([4_500, 5_500]);
});

test("only an accepted event is delivered, and 410 ends the endpoint", () => {
  verifies("webhooks.endpoints.turned-off");
  expect(afterAttempt({ ...FAILED, error: null, status_code: 200 }, 3, 0)).toEqual({ type: "delivered" });
  expect(afterAttempt({ ...FAILED, status_code: 410 }, 0, 0)).toEqual({ type: "gone" });
  expect(afterAttempt(FAILED, 99, 0)).toEqual({ type: "over" });
});

testStores("an event is sent although the reply to its claim, or to its settling, is lost", async () => {
  verifies("webhooks.crash.nothing-lost");
  const { webhooks, events } = await openTestStore();
  const endpoint = { name: "Test", url: "https://example.com", eventTypes: ["response.completed"] } as const;
  await webhooks.endpoints.create(OURS, { ...endpoint, secret: { sealedText: "sealed", hint: "…" } });
  const response = aResponse("resp_1", { background: true, status: "completed" });
  await events.storeWhole({ owner: OURS, response, inputItems: [] }, [], { response, outputItems: [] });
  const lost: string[] = [];
  /** The first call of each kind happens, and nobody hears of it. */
  const hearNothing = async <Outcome>(call: string, outcome: Promise<Outcome>): Promise<Outcome> => {
    const heard = await outcome;
    if (lost.includes(call)) return heard;
    lost.push(call);
    throw new Error("the connection to the database broke");
  };
  const queue: WebhookQueue = {
    listen: (listener) => webhooks.queue.listen(listener),
    claim: (busy) => hearNothing("claim", webhooks.queue.claim(busy)),
    settle: (...attempt) =>
      lost.includes("settle") ? webhooks.queue.settle(...attempt) : hearNothing("settle", noSettling()),
    releaseOthers: (own) => webhooks.queue.releaseOthers(own),
    load: () => webhooks.queue.load(),
    deleteOld: (before) => webhooks.queue.deleteOld(before),
  };
  const sent: string[] = [];
  const post = {
    send: async (_: object, { id }: { readonly id: string }) => {
      sent.push(id);
      return { at: 1_000, duration_ms: 1, error: null, status_code: 200 };
    },
  };
  const observer = { noteAttempt: () => {}, noteLoad: () => {} };
  const sender = new WebhookSender({ queue, post, observer, log: silentLogger });
  onTestFinished(() => sender.stop(AbortSignal.abort()));
  await expect.poll(() => sent).toHaveLength(2);
  expect([new Set(sent).size, lost]).toEqual([1, ["claim", "settle"]]);
});

/** The settling that never reached the database. */
async function noSettling(): Promise<boolean> {
  return true;
}
