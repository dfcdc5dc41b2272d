import { expect, test } from "vitest";
import { Outbox } from "./outbox.ts";

/** Puts messages until a writer has to wait. */
function fill(outbox: Outbox): { readonly count: number; readonly room: Promise<void> } {
  for (let count = 1; ; count++) {
    const room = outbox.put({ count });
    if (room !== undefined) return { count, room };
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const soon = new Promise<boolean>((resolve) => void setImmediate(resolve, false));
  return await Promise.race([promise.then(() => true), soon]);
}

test("writers wait for the reader, who gets everything in order", async () => {
  const outbox = new Outbox();
  const { count, room } = fill(outbox);
  expect(await isSettled(room)).toBe(false);
  const messages = outbox.messages();
  expect(await messages.next()).toEqual({ done: false, value: { count: 1 } });
  expect(await isSettled(room)).toBe(true);
  outbox.end();
  const rest: object[] = [];
  for await (const message of messages) rest.push(message);
  expect(rest).toEqual(Array.from({ length: count - 1 }, (_, index) => ({ count: index + 2 })));
});

test("a reader that waits is woken", async () => {
  const outbox = new Outbox();
  const messages = outbox.messages();
  const next = messages.next();
  void outbox.put({ late: true });
  expect(await next).toEqual({ done: false, value: { late: true } });
  const end = messages.next();
  outbox.end();
  expect(await end).toEqual({ done: true, value: undefined });
});

test("a fault comes after what was put before it", async () => {
  const outbox = new Outbox();
  void outbox.put({ first: true });
  outbox.fail(new Error("broken"));
  const messages = outbox.messages();
  expect((await messages.next()).value).toEqual({ first: true });
  await expect(messages.next()).rejects.toThrow("broken");
});

test("when nobody reads any more, nobody waits and nothing is kept", async () => {
  const outbox = new Outbox();
  const { room } = fill(outbox);
  outbox.close();
  await room;
  expect(outbox.put({ more: true })).toBeUndefined();
  expect(await outbox.messages().next()).toEqual({ done: true, value: undefined });
});
