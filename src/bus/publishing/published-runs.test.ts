import { expect, test } from "vitest";
import { LiveFeed } from "../../runs/index.ts";
import { deltaEvents } from "../../store/stores/runs/text-events.fixture.ts";
import { readMessage } from "../bus-message.ts";
import { PublishedRuns, SUBSCRIPTION_MS } from "./published-runs.ts";

const WORKER = 7;
const SECOND_MS = 1_000;

/** Told runs with a clock that the test sets, and what was sent to whom. */
function tell(textBytesMax = 64 * 1024) {
  const feeds = new Map([
    ["resp_1", new LiveFeed(true)],
    ["resp_2", new LiveFeed(true)],
  ]);
  const sent: { readonly peer: string; readonly text: string }[] = [];
  const clock = { now: 0 };
  let series = 0;
  const told = new PublishedRuns({
    textBytesMax,
    worker: () => WORKER,
    send: (peer, text) => void sent.push({ peer, text }),
    newSeries: () => String((series += 1)),
    subscribe: (id) => feeds.get(id)?.subscribe() ?? null,
    now: () => clock.now,
  });
  const say = (id: string, first: number, ...texts: readonly string[]) =>
    feeds.get(id)?.publish(deltaEvents(first, texts));
  /** What a process was told since the last call. */
  const hear = async (peer: string) => {
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const heard = sent.filter((one) => one.peer === peer).map(({ text }) => readMessage(text));
    sent.splice(0);
    return heard.flatMap((message) => (message?.type === "news" ? [message] : []));
  };
  return { told, feeds, say, hear, sent, clock };
}

const ONE = [{ id: "resp_1", after: -1 }];

test("the updates of one turn are one message, numbered for each receiver", async () => {
  const { told, say, hear } = tell();
  told.watch("a", 5, [...ONE, { id: "resp_2", after: 3 }]);
  const [first] = await hear("a");
  expect(first).toMatchObject({ worker: WORKER, number: 0, echo: 5 });
  expect(first?.items.map(({ type }) => type)).toEqual(["watched", "watched"]);
  say("resp_1", 0, "x", "y");
  say("resp_2", 4, "z");
  const updates = await hear("a");
  expect(updates.map(({ number, echo }) => [number, echo])).toEqual([[1, null]]);
  expect(updates[0]?.items).toMatchObject([
    { type: "events", id: "resp_1", first: 0, last: 1 },
    { type: "events", id: "resp_2", first: 4, last: 4 },
  ]);
});

test("a subscription that is renewed lasts, and one that is not is forgotten", async () => {
  const { told, say, hear, clock } = tell();
  told.watch("a", 0, ONE);
  told.watch("b", 0, ONE);
  clock.now += SUBSCRIPTION_MS - 1;
  told.tick();
  told.watch("a", 0, ONE);
  clock.now += SECOND_MS;
  told.tick();
  await hear("a");
  say("resp_1", 0, "x");
  await expect(hear("b")).resolves.toEqual([]);
  expect(told.size).toBe(1);
  told.unwatch("a", ["resp_1", "resp_unknown"]);
  expect(told.size).toBe(0);
});

test("whoever is told nothing for a while hears that nothing is missing", async () => {
  const { told, hear, clock } = tell();
  told.watch("a", 0, ONE);
  await hear("a");
  told.tick();
  await expect(hear("a")).resolves.toEqual([]);
  clock.now += SECOND_MS;
  told.tick();
  await expect(hear("a")).resolves.toMatchObject([{ number: 1, items: [] }]);
});

test("messages keep to the size that the broker carries", async () => {
  const bytesMax = 2_000;
  const { told, say, hear, sent } = tell(bytesMax);
  told.watch("a", 0, ONE);
  for (let number = 0; number < 100; number++) {
    const text = "ü".repeat(10 * (number % 120));
    say("resp_1", number, text);
    say("resp_2", number, text);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(Math.max(...sent.map(({ text }) => Buffer.byteLength(text)))).toBeLessThanOrEqual(bytesMax);
  const items = (await hear("a")).flatMap((updates) => updates.items);
  const shown = items.flatMap((item) => (item.type === "events" || item.type === "logged" ? [item.last] : []));
  expect(shown.at(-1)).toBe(99);
  expect(items.some(({ type }) => type === "logged")).toBe(true);
});

test("a run that is not here, or is over, is left", async () => {
  const { told, feeds, hear } = tell();
  told.watch("a", 0, [{ id: "resp_unknown", after: null }, ...ONE]);
  await expect(hear("a")).resolves.toMatchObject([{ items: [{ type: "left", id: "resp_unknown" }, {}] }]);
  feeds.get("resp_1")?.end();
  await expect(hear("a")).resolves.toMatchObject([{ items: [{ type: "left", id: "resp_1" }] }]);
  expect(told.size).toBe(0);
});

test("who only wants to know of the end hears of no event", async () => {
  const { told, feeds, say, hear } = tell();
  told.watch("a", 0, [{ id: "resp_1", after: null }]);
  await hear("a");
  say("resp_1", 0, "x");
  await expect(hear("a")).resolves.toEqual([]);
  feeds.get("resp_1")?.end();
  await expect(hear("a")).resolves.toMatchObject([{ items: [{ type: "left" }] }]);
});
