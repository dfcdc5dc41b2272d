import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { afterAttempt } from "./webhook-sender.ts";

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
