import { expect, test } from "vitest";
import { BoundedMessageQueue } from "./bounded-message-queue.ts";

/** Writes messages until a writer has to wait. */
function fill(queue: BoundedMessageQueue): { readonly count: number; readonly room: Promise<void> } {
  for (let count = 1; ; count++) {
    const room = queue.put({ count });
    if (room !== undefined) return { count, room };
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const soon = new Promise<boolean>((resolve) => void setImmediate(resolve, false));
  return await Promise.race([promise.then(() => true), soon]);
}

test("writers wait for the reader, who gets every message in order", async () => {
  const queue = new BoundedMessageQueue();
  const { count, room } = fill(queue);
  expect(await isSettled(room)).toBe(false);
  const messages = queue.messages();
  expect(await messages.next()).toEqual({ done: false, value: { count: 1 } });
  expect(await isSettled(room)).toBe(true);
  queue.end();
  const rest: object[] = [];
  for await (const message of messages) rest.push(message);
  expect(rest).toEqual(Array.from({ length: count - 1 }, (_, index) => ({ count: index + 2 })));
});

test("a message or the end wakes a waiting reader", async () => {
  const queue = new BoundedMessageQueue();
  const messages = queue.messages();
  const next = messages.next();
  void queue.put({ late: true });
  expect(await next).toEqual({ done: false, value: { late: true } });
  const end = messages.next();
  queue.end();
  expect(await end).toEqual({ done: true, value: undefined });
});

test("a fault arrives after all messages before it", async () => {
  const queue = new BoundedMessageQueue();
  void queue.put({ first: true });
  queue.fail(new Error("broken"));
  const messages = queue.messages();
  expect((await messages.next()).value).toEqual({ first: true });
  await expect(messages.next()).rejects.toThrow("broken");
});

test("after close, no writer waits and no message is kept", async () => {
  const queue = new BoundedMessageQueue();
  const { room } = fill(queue);
  queue.close();
  await room;
  expect(queue.put({ more: true })).toBeUndefined();
  expect(await queue.messages().next()).toEqual({ done: true, value: undefined });
});
