import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { RunHost } from "../../runs/index.ts";
import type { RecordedEvent } from "../../runs/ports.ts";
import { LiveFeed, READER_LAG_CHARACTERS_MAX } from "../../runs/reading/live-feed.ts";
import { textEvents } from "../../store/runs/text-events.fixture.ts";
import { openTestStore } from "../../store/store.fixture.ts";
import { aResponse, OURS } from "../../store/stored-shapes.fixture.ts";
import { watchResponse } from "./watch-response.ts";

const ID = "resp_1";

/** A response in progress, its feed, and counts of database reads and subscriptions. */
async function watchedResponse() {
  const store = await openTestStore();
  await store.events.open({ owner: OURS, response: aResponse(ID), inputItems: [] }, textEvents(0, 2));
  const feed = new LiveFeed(true);
  const seen = { looks: 0, subscriptions: 0 };
  const here = { isHere: true, isQueueClosed: false };
  const controller = new AbortController();
  const find = store.responses.findResponse.bind(store.responses);
  const findResponse: typeof find = (owner, id) => {
    seen.looks += 1;
    return find(owner, id);
  };
  class Runs extends RunHost {
    override subscribe() {
      seen.subscriptions += 1;
      return here.isHere ? feed.subscribe() : null;
    }

    override get isQueueClosed() {
      return here.isQueueClosed;
    }
  }
  const runs = new Runs({ runsMax: 1, backgroundRunsMax: 1, queueMax: 1, runMs: 1000 });
  const services = {
    store: Object.assign(store.responses, { findResponse }),
    eventLog: store.events,
    runs,
    neighbours: null,
  };
  const watch = () => {
    const watched = { owner: OURS, responseId: ID, signal: controller.signal };
    return watchResponse(services, watched, -1);
  };
  return { store, feed, seen, here, controller, watch };
}

const numbersOf = (batch: readonly RecordedEvent[] | void | undefined) => batch?.map(({ number }) => number);

test("a watcher that never reads makes no subscription", async () => {
  const { watch, seen } = await watchedResponse();
  await watch().return();
  expect(seen.subscriptions).toBe(0);
});

test("watching a silent response ends at once when the watcher leaves", async () => {
  const { watch, controller } = await watchedResponse();
  const events = watch();
  expect(numbersOf((await events.next()).value)).toEqual([0, 1]);
  const next = events.next();
  controller.abort();
  expect(await next).toMatchObject({ done: true });
});

test("a response of another process is polled only while somebody watches it", async () => {
  const { watch, here, seen, controller } = await watchedResponse();
  here.isHere = false;
  const events = watch();
  await events.next();
  const next = events.next();
  await sleep(500);
  expect(seen.looks).toBeGreaterThan(1);
  controller.abort();
  expect(await next).toMatchObject({ done: true });
  const { looks } = seen;
  await sleep(500);
  expect(seen.looks).toBe(looks);
});

test("a watcher also sees the events of the worker that continues the response", async () => {
  const { watch, store, feed } = await watchedResponse();
  const events = watch();
  await events.next();
  const rest = events.next();
  feed.end(); // This worker lost the run.
  await store.events.append(ID, textEvents(2, 1));
  expect(numbersOf((await rest).value)).toEqual([2]);
  const last = events.next();
  const response = aResponse(ID, { status: "failed" });
  await store.events.close(ID, textEvents(3, 1), { response, outputItems: [] });
  expect(numbersOf((await last).value)).toEqual([3]);
  expect(await events.next()).toMatchObject({ done: true });
});

test("when the server shuts down, watching ends without a final event", async () => {
  const { watch, here, feed, seen } = await watchedResponse();
  here.isQueueClosed = true;
  const events = watch();
  await events.next();
  feed.end();
  expect(await events.next()).toMatchObject({ done: true });
  expect(seen.looks).toBe(0);
});

test("a stopped run does not wait for a reader that does not read", async () => {
  const feed = new LiveFeed(false);
  feed.subscribe();
  feed.publish(textEvents(0, 1, "x".repeat(READER_LAG_CHARACTERS_MAX)));
  const room = feed.waitForRoom();
  feed.stopWaiting();
  await room;
});
