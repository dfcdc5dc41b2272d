import { expect, test } from "vitest";
import { ByteBudget } from "../../base/limits/byte-budget.ts";
import { MessageBytes } from "./message-bytes.ts";

const BYTES_MAX = 1_000_000;

function start() {
  const budget = new ByteBudget(BYTES_MAX);
  return { budget, bytes: new MessageBytes(budget.open()) };
}

test("the bytes of a message count from their arrival until it is taken", () => {
  const { budget, bytes } = start();
  bytes.arrived(65_536);
  bytes.arrived(40_000);
  expect(budget.heldBytes).toBe(105_536);
  bytes.completed(100_000);
  expect([bytes.waiting, budget.heldBytes]).toEqual([100_000, 105_536]);
  bytes.taken(100_000);
  expect([bytes.waiting, budget.heldBytes]).toEqual([0, 5_536]);
});

test("frame headers do not accumulate", () => {
  const { budget, bytes } = start();
  for (let message = 0; message < 1_000; message += 1) {
    bytes.arrived(114);
    bytes.completed(100);
    bytes.taken(100);
  }
  expect(budget.heldBytes).toBeLessThanOrEqual(114);
});

test("control frames do not count, and the message around them still does", () => {
  const { budget, bytes } = start();
  bytes.arrived(200_000);
  for (let frame = 0; frame < 1_000; frame += 1) {
    bytes.arrived(106);
    bytes.controlled(100);
  }
  expect(budget.heldBytes).toBe(200_000);
});

test("bytes beyond the budget are refused, and released bytes are free again", () => {
  const { budget, bytes } = start();
  expect([bytes.arrived(BYTES_MAX), bytes.arrived(1)]).toEqual([true, false]);
  bytes.completed(600_000);
  bytes.release();
  bytes.taken(600_000);
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
    if (piece > 0) bytes.arrived(piece);
    return bytes.isStalled(10_000);
  });
  expect(looks).toEqual(stalled);
});
