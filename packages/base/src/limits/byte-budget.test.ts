import { expect, test } from "vitest";
import { ByteBudget, SMALL_BYTES } from "./byte-budget.ts";

const MIB = 1024 * 1024;

test("a holder gets bytes as long as all holders together have no more than the budget", () => {
  const budget = new ByteBudget(2 * MIB);
  const first = budget.open();
  const second = budget.open();
  expect([first.add(MIB), second.add(MIB), second.add(1)]).toEqual([true, true, false]);
  expect([first.bytes, second.bytes, budget.heldBytes]).toEqual([MIB, MIB, 2 * MIB]);
  first.remove(10);
  expect([second.add(11), second.add(10)]).toEqual([false, true]);
});

test("what is released can be held by others", () => {
  const budget = new ByteBudget(MIB);
  const first = budget.open();
  const second = budget.open();
  first.add(MIB);
  first.release();
  first.release();
  expect([first.bytes, second.add(MIB), budget.heldBytes]).toEqual([0, true, MIB]);
});

test("a holder of little is never refused", () => {
  const budget = new ByteBudget(MIB);
  budget.open().add(MIB);
  const small = budget.open();
  expect([small.add(SMALL_BYTES), small.add(1)]).toEqual([true, false]);
  expect(budget.heldBytes).toBe(MIB + SMALL_BYTES);
});

test("no holder gives back more than it has", () => {
  const budget = new ByteBudget(MIB);
  const holder = budget.open();
  holder.add(10);
  holder.remove(20);
  expect([holder.bytes, budget.heldBytes]).toEqual([0, 0]);
});
