import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { expect, test } from "vitest";
import { MessageBytes } from "./message-bytes.ts";

const BYTES_MAX = 1_000_000;

function start() {
  const budget = new ByteBudget(BYTES_MAX);
  return { budget, bytes: new MessageBytes(budget.open()) };
}

test("the bytes of a message count from their arrival until it is taken", () => {
  const { budget, bytes } = start();
  bytes.addArrival(65_536);
  bytes.addArrival(40_000);
  expect(budget.heldBytes).toBe(105_536);
  bytes.completeMessage(100_000);
  expect([bytes.waiting, budget.heldBytes]).toEqual([100_000, 105_536]);
  bytes.removeMessage(100_000);
  expect([bytes.waiting, budget.heldBytes]).toEqual([0, 5_536]);
});

test("frame headers do not accumulate", () => {
  const { budget, bytes } = start();
  for (let message = 0; message < 1_000; message += 1) {
    bytes.addArrival(114);
    bytes.completeMessage(100);
    bytes.removeMessage(100);
  }
  expect(budget.heldBytes).toBeLessThanOrEqual(114);
});

test("control frames do not count, and the message around them still does", () => {
  const { budget, bytes } = start();
  bytes.addArrival(200_000);
  for (let frame = 0; frame < 1_000; frame += 1) {
    bytes.addArrival(106);
    bytes.removeControlFrame(100);
  }
  expect(budget.heldBytes).toBe(200_000);
});

test("bytes beyond the budget are refused, and released bytes are free again", () => {
  const { budget, bytes } = start();
  expect([bytes.addArrival(BYTES_MAX), bytes.addArrival(1)]).toEqual([true, false]);
  bytes.completeMessage(600_000);
  bytes.release();
  bytes.removeMessage(600_000);
  expect(budget.heldBytes).toBe(0);
});

test.each([
  ["a large message that stops", [200_000, 0], [false, true]],
  ["a large message below the minimum rate", [200_000, 100], [false, true]],
  ["a large message that continues", [200_000, 20_000, 20_000], [false, false, false]],
  ["a small message that stops", [60_000, 0], [false, false]],
])("isStalled is right for %s", (_what, pieces, stalled) => {
  const { bytes } = start();
  const looks = pieces.map((piece) => {
    if (piece > 0) bytes.addArrival(piece);
    return bytes.isStalled(10_000);
  });
  expect(looks).toEqual(stalled);
});
