import { setTimeout as sleep } from "node:timers/promises";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { RunHost, readEvents } from "../../runs/index.ts";
import { StoreAway, StoreBusy, StoreStopped } from "../../runs/ports/store-faults.ts";
import { LiveFeed, READER_LAG_CHARACTERS_MAX } from "../../runs/reading/live-feed.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { openTestStore } from "../../store/store.fixture.ts";
import { aResponse, OURS } from "../../store/stored-shapes.fixture.ts";
import { textEvents } from "../../store/stores/runs/text-events.fixture.ts";
import { continueFromLog, waitUntilOver, watchResponse } from "./watch-response.ts";

const ID = "resp_1";

/** The faults of the next reads of a response: of its row, of its log, and of its log after the first events. */
interface Faults {
  readonly row: unknown[];
  readonly log: unknown[];
  readonly rest: unknown[];
}

function fail(faults: unknown[]): void {
  if (faults.length > 0) throw faults.shift();
}

/** A response in progress, its feed, counts of database reads and subscriptions, and faults to come. */
async function watchedResponse() {
  const store = await openTestStore();
  await store.events.open({ owner: OURS, response: aResponse(ID), inputItems: [] }, textEvents(0, 2));
  const feed = new LiveFeed(true);
  const seen = { looks: 0, subscriptions: 0 };
  const here = { isHere: true, isQueueClosed: false };
  const controller = new AbortController();
  const faults: Faults = { row: [], log: [], rest: [] };
  const find = store.responses.findResponse.bind(store.responses);
  const findResponse: typeof find = async (owner, id) => {
    seen.looks += 1;
    fail(faults.row);
    return await find(owner, id);
  };
  const eventLog: Pick<typeof store.events, "read"> = {
    read: async function* (id, after) {
      fail(faults.log);
      for await (const batch of store.events.read(id, after)) {
        yield batch;
        fail(faults.rest);
      }
    },
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
    eventLog: Object.assign(Object.create(store.events), eventLog),
    runs,
    neighbours: null,
  };
  const watched = { owner: OURS, responseId: ID, signal: controller.signal };
  const watch = () => watchResponse(services, watched, -1);
  return { store, feed, seen, here, controller, faults, services, watched, watch };
}

/** The numbers of all events, once they have ended. */
async function allNumbers(events: AsyncIterable<readonly RecordedEvent[]>): Promise<readonly number[]> {
  return (await Array.fromAsync(events)).flatMap((batch) => batch.map(({ number }) => number));
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
  await expect.poll(() => seen.looks).toBeGreaterThan(1);
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

const AWAY = new StoreAway("the database is away");
const WHERE = ["row", "log", "rest"] as const;

test.each([
  ["this process", true],
  ["another process", false],
])("a reader of what %s makes waits for a store that is away, and sees each event once", async (_who, isHere) => {
  verifies("outages.database.readers-wait");
  const { watch, store, feed, here, faults } = await watchedResponse();
  here.isHere = isHere;
  faults.row.push(AWAY);
  faults.log.push(new StoreBusy("it is locked"));
  faults.rest.push(new StoreStopped("its thread has ended"));
  const seen = allNumbers(watch());
  await store.events.append(ID, textEvents(2, 3));
  feed.publish(textEvents(2, 3));
  await expect.poll(() => Object.values(faults).flat()).toEqual([]);
  const response = aResponse(ID, { status: "completed" });
  await store.events.close(ID, textEvents(5, 2), { response, outputItems: [] });
  here.isHere = false;
  feed.end();
  expect(await seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("the reader of a run that it began waits for a store that is away when it lags behind, and goes on live", async () => {
  verifies("outages.database.readers-wait");
  const { store, feed, services, watched, faults, here } = await watchedResponse();
  faults.log.push(AWAY, AWAY);
  const live = feed.subscribe();
  const events = readEvents({ responseId: ID, log: services.eventLog, live, isLiveFromStart: true }, 1);
  const long = textEvents(2, 3, "x".repeat(READER_LAG_CHARACTERS_MAX));
  await store.events.append(ID, long);
  for (const event of long) feed.publish([event]);
  const seen = allNumbers(continueFromLog(services, watched, 1, events));
  await expect.poll(() => faults.log).toEqual([]);
  const response = aResponse(ID, { status: "completed" });
  await store.events.close(ID, textEvents(5, 1), { response, outputItems: [] });
  feed.publish(textEvents(5, 1));
  here.isHere = false;
  feed.end();
  expect(await seen).toEqual([2, 3, 4, 5]);
});

test.each(WHERE)(
  "a stored response that cannot be read ends its stream with no event but an UnfinishedStream: %s",
  async (where) => {
    verifies("responses.stream.unreadable-is-cut");
    const { watch, here, faults } = await watchedResponse();
    here.isHere = false;
    const cause = new Error("the file is damaged");
    faults.row.push(AWAY);
    faults[where].push(cause);
    const reading = allNumbers(watch());
    await expect(reading).rejects.toMatchObject({ cause, logFields: { responseId: ID } });
    await expect(reading).rejects.toThrow(UnfinishedStream);
  },
);

test("a reader that leaves while the store is away is told nothing more", async () => {
  const { watch, here, faults, controller, seen } = await watchedResponse();
  here.isHere = false;
  faults.row.push(...Array.from({ length: 1000 }, () => AWAY));
  const rest = allNumbers(watch());
  await expect.poll(() => seen.looks).toBeGreaterThan(1);
  controller.abort();
  expect(await rest).toEqual([]);
});

test("who waits for the end of a response waits for a store that is away, but no longer than it wants to", async () => {
  verifies("state.lease.readers-follow");
  const { store, services, watched, faults } = await watchedResponse();
  const response = aResponse(ID, { status: "failed" });
  await store.events.close(ID, textEvents(2, 1), { response, outputItems: [] });
  faults.row.push(AWAY, AWAY);
  expect(await waitUntilOver(services, watched, Number.POSITIVE_INFINITY)).toMatchObject({ status: "failed" });
  faults.row.push(AWAY);
  await expect(waitUntilOver(services, watched, 0)).rejects.toBe(AWAY);
});
