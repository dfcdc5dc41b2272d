import { setTimeout as sleep } from "node:timers/promises";
import type { DemoChatLine } from "@antiphon/contracts/local-stt/types.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../../../tests/verifies.ts";
import { DemoAnswers } from "./demo-answers.ts";

const ALONE_MS = 30;
const NEVER = new AbortController().signal;

/** Answers that begin with a word, and that the test may end. */
function open(times = { aloneMs: ALONE_MS, keptMs: ALONE_MS }) {
  const answers = new DemoAnswers(times);
  const finish = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const begin = async function* (signal: AbortSignal): AsyncGenerator<DemoChatLine> {
    signals.push(signal);
    yield { type: "chat.delta", text: "One." };
    await Promise.race([finish.promise, new Promise((_, reject) => signal.addEventListener("abort", reject))]);
    yield { type: "chat.done", message: { role: "assistant", content: "One." }, model: "m" };
  };
  return { take: () => answers.take("a-name-of-an-answer", "[]", begin), finish: finish.resolve, signals };
}

test("an answer that nobody reads any longer is stopped after its time, and one that is read is not", async () => {
  verifies("stt.demo.named-answer-survives");
  const { take, signals } = open();
  const reading = take().read(NEVER);
  await reading.next();
  await sleep(3 * ALONE_MS);
  expect(signals[0]?.aborted).toBe(false);
  await reading.return(undefined);
  await expect.poll(() => signals[0]?.aborted).toBe(true);
  take();
  expect(signals).toHaveLength(2);
});

test("a complete answer is kept for its time, counted from its last reader", async () => {
  const { take, finish, signals } = open({ aloneMs: 60_000, keptMs: ALONE_MS });
  const reading = take().read(NEVER);
  finish();
  await reading.next();
  await sleep(3 * ALONE_MS);
  expect(await Array.fromAsync(take().read(NEVER))).toHaveLength(2);
  expect(await Array.fromAsync(reading)).toHaveLength(1);
  expect(signals).toHaveLength(1);
  await expect.poll(() => (take(), signals.length)).toBe(2);
});

test("a reader that leaves while it waits ends at once, and the answer goes on", async () => {
  const { take, signals } = open({ aloneMs: 60_000, keptMs: 60_000 });
  const leaving = new AbortController();
  const reading = take().read(leaving.signal);
  await reading.next();
  const next = reading.next();
  leaving.abort(new Error("left"));
  await expect(next).rejects.toThrow("left");
  expect(signals[0]?.aborted).toBe(false);
});
