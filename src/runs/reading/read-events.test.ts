import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { openStore } from "../../store/open-store.ts";
import { type RecordedEvent, RecordedWhole } from "../recorded-event.ts";
import { aResponse } from "../run.fixture.ts";
import { LiveFeed, READER_LAG_CHARACTERS_MAX } from "./live-feed.ts";
import { readEvents } from "./read-events.ts";

const owner = { organization: "org", project: "proj" };

/** Events numbered from `first`. */
function events(first: number, count: number): RecordedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    return RecordedWhole.of({ type: "keepalive", sequence_number: first + index });
  });
}

/** Stores and then publishes batches; a reader joins before batch `joinsAt`. Returns the numbers it saw. */
async function play(batches: readonly number[], joinsAt: number, after: number): Promise<number[]> {
  const store = await openStore({ file: ":memory:" });
  const feed = new LiveFeed(true);
  const response = aResponse({ id: "resp_1" });
  await store.events.open({ owner, response, inputItems: [] }, []);
  const seen: number[] = [];
  let reading: Promise<void> | null = null;
  const join = async (): Promise<void> => {
    const source = { responseId: "resp_1", log: store.events, live: feed.subscribe(), isLiveFromStart: false };
    for await (const batch of readEvents(source, after)) seen.push(...batch.map(({ number }) => number));
  };
  let next = 0;
  for (const [index, size] of batches.entries()) {
    if (index === joinsAt) reading = join();
    const batch = events(next, size);
    next += size;
    await store.events.append("resp_1", batch);
    feed.publish(batch);
  }
  reading ??= join();
  feed.end();
  await reading;
  await store.close();
  return seen;
}

test("a reader that joins at any moment and starts after any number sees every later event once and in order", async () => {
  verifies("responses.replay.attaches-live", "responses.replay.starting-after");
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(12), fc.integer({ min: -1, max: 60 }), async (batches, joinsAt, after) => {
      const total = batches.reduce((sum, size) => sum + size, 0);
      const expected = events(0, total).map(({ number }) => number);
      expect(await play(batches, joinsAt, after)).toEqual(expected.filter((number) => number > after));
    }),
    { numRuns: 60 },
  );
});

test("a reader finds in the log what is missing between two batches that it takes at once", async () => {
  verifies("responses.replay.attaches-live");
  const store = await openStore({ file: ":memory:" });
  const response = aResponse({ id: "resp_1" });
  await store.events.open({ owner, response, inputItems: [] }, events(0, 30));
  const feed = new LiveFeed(true);
  const source = { responseId: "resp_1", log: store.events, live: feed.subscribe(-1), isLiveFromStart: true };
  feed.publish(events(0, 10)); // The reader takes all these when it first looks.
  feed.publish(events(20, 5));
  feed.end();
  const seen = (await Array.fromAsync(readEvents(source, -1))).flat().map(({ number }) => number);
  expect(seen).toEqual(events(0, 30).map(({ number }) => number));
  await store.close();
});

test("what another process has shown and not stored is not passed over, even between two batches that come at once", async () => {
  const store = await openStore({ file: ":memory:" });
  await store.events.open({ owner, response: aResponse({ id: "resp_1" }), inputItems: [] }, events(0, 10));
  const feed = new LiveFeed(true);
  const source = { responseId: "resp_1", log: store.events, live: feed.subscribe(-1), isLiveFromStart: true };
  feed.publish(events(0, 12)); // The reader takes all these when it first looks.
  feed.publish(events(14, 5));
  const seen = (await Array.fromAsync(readEvents(source, -1))).flat().map(({ number }) => number);
  expect(seen).toEqual(events(0, 12).map(({ number }) => number));
  await store.close();
});

test("a reader that lags behind catches up from the log and misses nothing", async () => {
  const tooMany = READER_LAG_CHARACTERS_MAX / 64;
  expect(await play([10, tooMany, 50], 0, -1)).toEqual(events(0, 10 + tooMany + 50).map(({ number }) => number));
});
