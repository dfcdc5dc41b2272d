import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadline } from "./deadline.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a deadline can be moved closer, and never further away", () => {
  const deadline = new Deadline(1000);
  deadline.hasten(5000);
  vi.advanceTimersByTime(500);
  deadline.hasten(100);
  deadline.hasten(300);
  vi.advanceTimersByTime(99);
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.signal.aborted).toBe(true);
});

test("a cleared deadline never ends", () => {
  const deadline = new Deadline(10);
  deadline.clear();
  vi.advanceTimersByTime(1000);
  expect(deadline.signal.aborted).toBe(false);
});
