import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { expect, test } from "vitest";
import { CallLine, type LinePlace } from "./call-line.ts";

function says(text: string): ModelEvent {
  return { type: "text_delta", text };
}

async function textOf(line: CallLine): Promise<string> {
  let text = "";
  for await (const batch of line.read()) for (const event of batch) text += "text" in event ? event.text : "";
  return text;
}

test("events leave in the order of their places, whoever is ready first", async () => {
  const line = new CallLine();
  const first = line.take();
  const second = line.take();
  const third = line.take();
  const text = textOf(line);
  third.add(says("5"), says("6"));
  third.close();
  second.add(says("3"));
  first.add(says("1"));
  first.add(says("2"));
  first.close();
  second.add(says("4"));
  second.close();
  line.end();
  expect(await text).toBe("123456");
});

test("events of the place at the front pass before it is closed", async () => {
  const line = new CallLine();
  const place = line.take();
  const batches = line.read();
  place.add(says("a"));
  expect((await batches.next()).value).toEqual([says("a")]);
  const next = batches.next();
  place.add(says("b"));
  expect((await next).value).toEqual([says("b")]);
});

test("every order of work gives the same text", async () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const line = new CallLine();
    const text = textOf(line);
    const places = Array.from({ length: 5 }, () => line.take());
    const left = places.flatMap((place, index) => [0, 1, 2].map((step) => ({ place, index, step })));
    const done = places.map(() => 0);
    let random = seed + 1;
    while (left.length > 0) {
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      const open = left.filter(({ index, step }) => done[index] === step);
      const chosen = open[random % open.length];
      if (chosen === undefined) throw new Error("one of them is next");
      left.splice(left.indexOf(chosen), 1);
      done[chosen.index] = chosen.step + 1;
      chosen.place.add(says(`${chosen.index}${chosen.step} `));
      if (chosen.step === 2) chosen.place.close();
      if (random % 3 === 0) await Promise.resolve();
    }
    line.end();
    expect(await text).toBe([0, 1, 2, 3, 4].map((index) => `${index}0 ${index}1 ${index}2 `).join(""));
  }
});

test("a full line lets its writers wait, but never the place at the front for the others", async () => {
  const line = new CallLine(100);
  const front = line.take();
  const behind = line.take();
  behind.add(says("x".repeat(200)));
  expect(await settles(behind.room())).toBe(false);
  expect(await settles(behind.read())).toBe(true);
  const text = textOf(line);
  front.add(says("a"));
  await front.room();
  front.close();
  await behind.room();
  behind.close();
  line.end();
  expect(await text).toBe(`a${"x".repeat(200)}`);
});

test("a fault comes after what is at the front; a reader that left holds nobody up", async () => {
  const line = new CallLine();
  const place: LinePlace = line.take();
  place.add(says("a"));
  line.fail(new Error("broken"));
  const batches = line.read();
  expect((await batches.next()).value).toEqual([says("a")]);
  await expect(batches.next()).rejects.toThrow("broken");
  const left = new CallLine();
  const waiting = left.take();
  waiting.add(says("a"));
  const room = waiting.room();
  left.leave();
  await room;
});

async function settles(promise: Promise<void>): Promise<boolean> {
  return await Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(resolve, 5, false)),
  ]);
}
