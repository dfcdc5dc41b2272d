import { expect, test } from "vitest";
import { LoopDelays } from "./loop-delays.ts";

const QUANTILES = [0.5, 0.99, 1];

/** Keeps the event loop from everything else. */
function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test("a blocked loop shows in the largest delay, once", async () => {
  const delays = new LoopDelays();
  await new Promise(setImmediate);
  block(1_500);
  let largest = 0;
  await expect
    .poll(() => (largest = Math.max(largest, ...delays.take(QUANTILES))), { interval: 1 })
    .toBeGreaterThan(0.4);
  delays.stop();
  expect(delays.take(QUANTILES)).toEqual([0, 0, 0]);
});

test("nothing is measured once it is stopped", async () => {
  const delays = new LoopDelays();
  delays.stop();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(delays.take(QUANTILES)).toEqual([0, 0, 0]);
});
