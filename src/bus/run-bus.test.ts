import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, onTestFinished, vi } from "vitest";
import { LiveFeed, readEvents } from "../runs/index.ts";
import type { EventLog } from "../runs/ports/event-log.ts";
import type { RunPlaces } from "../runs/reading/neighbours.ts";
import type { RecordedEvent } from "../runs/recorded-event.ts";
import { claimUnmade } from "../store/claim-unmade.fixture.ts";
import { openStore, type Store } from "../store/open-store.ts";
import { temporaryFile, testStores, withDatabase } from "../store/store.fixture.ts";
import { aResponse, OURS } from "../store/stored-shapes.fixture.ts";
import { deltaEvents } from "../store/stores/runs/text-events.fixture.ts";
import { type Faults, MemoryNetwork, NO_FAULTS } from "./memory-broker.fixture.ts";
import { type BusObserver, silentBusObserver } from "./ports.ts";
import { type BusDuties, RunBus } from "./run-bus.ts";

vi.setConfig({ testTimeout: 60_000 });

interface Node {
  readonly bus: RunBus;
  readonly store: Store;
  readonly feeds: Map<string, LiveFeed>;
  readonly counts: { journals: number; places: number; missed: number; silent: number };
}

async function startNode(network: MemoryNetwork, file: string, duties: Partial<BusDuties> = {}): Promise<Node> {
  const store = await openStore(await withDatabase({ file }));
  onTestFinished(() => store.close());
  const feeds = new Map<string, LiveFeed>();
  const counts = { journals: 0, places: 0, missed: 0, silent: 0 };
  const places: RunPlaces = {
    ownWorker: () => store.places.ownWorker(),
    find: (ids) => {
      counts.places += 1;
      return store.places.find(ids);
    },
    settle: () => store.places.settle(),
    readJournal: (...given) => {
      counts.journals += 1;
      return store.places.readJournal(...given);
    },
  };
  const observer: BusObserver = { ...silentBusObserver, caughtUp: (reason) => void (counts[reason] += 1) };
  const runs = { subscribe: (id: string) => feeds.get(id)?.subscribe() ?? null };
  const bus = new RunBus({ broker: network.broker(), places, runs, observer, log: silentLogger });
  bus.accept(duties);
  await bus.start();
  onTestFinished(() => bus.close());
  return { bus, store, feeds, counts };
}

/** Two nodes on one database. */
async function startPair(network = new MemoryNetwork()) {
  const file = temporaryFile();
  const owner = await startNode(network, file);
  const other = await startNode(network, file);
  return { network, owner, other };
}

/** A run of a node that a test makes step by step. */
class MadeRun {
  readonly #node: Node;
  readonly #feed = new LiveFeed(true);
  readonly id: string;
  next = 0;

  private constructor(node: Node, id: string) {
    this.#node = node;
    this.id = id;
  }

  static async open(node: Node, id: string): Promise<MadeRun> {
    const run = new MadeRun(node, id);
    await node.store.events.open({ owner: OURS, response: aResponse(id), inputItems: [] }, []);
    node.feeds.set(id, run.#feed);
    return run;
  }

  async say(count: number, text = "word "): Promise<void> {
    const events = deltaEvents(
      this.next,
      Array.from({ length: count }, () => text),
    );
    this.next += count;
    await this.#node.store.events.append(this.id, events);
    this.#feed.publish(events);
  }

  async end(): Promise<void> {
    const events = deltaEvents(this.next, ["."]);
    this.next += 1;
    const response = aResponse(this.id, { status: "completed" });
    await this.#node.store.events.close(this.id, events, { response, outputItems: [] });
    this.#feed.publish(events);
    this.leave();
  }

  leave(): void {
    this.#feed.end();
    this.#node.feeds.delete(this.id);
  }
}

/** Reads a run as `watchResponse` does, until all its events were seen. Returns their numbers and when they came. */
async function follow({ bus, store }: Node, id: string, seen: number[]): Promise<void> {
  for (;;) {
    const response = await store.responses.findResponse(OURS, id);
    for await (const batch of store.events.read(id, seen.at(-1) ?? -1)) note(batch, seen);
    if (response === null || response.status === "completed") return;
    const log: Pick<EventLog, "read"> = {
      async *read(responseId, after) {
        await bus.settle();
        yield* store.events.read(responseId, after);
      },
    };
    const source = { responseId: id, log, live: bus.subscribe(id, seen.at(-1) ?? -1) };
    for await (const batch of readEvents({ ...source, isLiveFromStart: true }, seen.at(-1) ?? -1)) note(batch, seen);
    await sleep(20);
  }
}

function note(batch: readonly RecordedEvent[], seen: number[]): void {
  seen.push(...batch.map(({ number }) => number));
}

function numbersTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}

testStores(
  "a reader in another process gets each event once and in order, and the database is left alone",
  async () => {
    const { owner, other } = await startPair();
    const run = await MadeRun.open(owner, "resp_1");
    await run.say(3);
    const seen: number[] = [];
    const reading = follow(other, run.id, seen);
    await expect.poll(() => owner.bus.load.publishedRuns).toBe(1);
    for (let turn = 0; turn < 20; turn++) await run.say(1 + (turn % 5));
    await expect.poll(() => seen.length).toBe(run.next);
    await sleep(1_500); // A silent model is no reason to ask the database.
    await run.say(2);
    await expect.poll(() => seen.length).toBe(run.next);
    expect(other.counts).toMatchObject({ journals: 0, missed: 0, silent: 0, places: 1 });
    await run.end();
    await reading;
    expect(seen).toEqual(numbersTo(run.next));
    expect([owner.bus.load, other.bus.load]).toMatchObject([{ publishedRuns: 0 }, { watchedRuns: 0 }]);
  },
);

testStores("several readers of a run share what is told, and the last that leaves ends the subscription", async () => {
  const { owner, other } = await startPair();
  const run = await MadeRun.open(owner, "resp_1");
  const first = other.bus.subscribe(run.id, -1);
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(1);
  const second = other.bus.subscribe(run.id, -1);
  await run.say(2);
  expect((await first.next())?.map(({ number }) => number)).toEqual([0, 1]);
  expect((await second.next())?.map(({ number }) => number)).toEqual([0, 1]);
  first.close();
  first.close();
  await run.say(1);
  expect((await second.next())?.map(({ number }) => number)).toEqual([2]);
  second.close();
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(0);
  expect(other.bus.load.watchedRuns).toBe(0);
});

testStores("events that are too long for a message are read from the log", async () => {
  const { owner, other } = await startPair(new MemoryNetwork(7_500));
  const run = await MadeRun.open(owner, "resp_1");
  const seen: number[] = [];
  const reading = follow(other, run.id, seen);
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(1);
  await run.say(1);
  await run.say(1, "x".repeat(20_000));
  await run.say(200, "y".repeat(100));
  await run.say(1);
  await run.end();
  await reading;
  expect(seen).toEqual(numbersTo(run.next));
});

testStores("an event whose message is lost is found although it was shown before it was stored", async () => {
  const { network, owner, other } = await startPair();
  const run = await MadeRun.open(owner, "resp_1");
  const busy = await MadeRun.open(owner, "resp_2");
  const seen: number[] = [];
  const reading = [follow(other, run.id, seen), follow(other, busy.id, [])];
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(2);
  await run.say(1);
  await expect.poll(() => seen).toEqual([0]);
  network.isDown = true;
  const sent = network.sent.length;
  await run.say(1);
  while (network.sent.length === sent) await setImmediate();
  network.isDown = false;
  await busy.say(1); // The next message shows at once that one is missing.
  await expect.poll(() => seen).toEqual([0, 1]);
  const renewals = network.sent.slice(sent).filter(({ text }) => text.includes('"watch"'));
  expect(renewals).toEqual([]); // A renewal, after ten seconds, would find it too.
  await Promise.all([run.end(), busy.end()]);
  await Promise.all(reading);
});

const FAULTS: Readonly<Record<string, Faults>> = {
  "that are lost": { ...NO_FAULTS, lost: 0.2 },
  "that come twice": { ...NO_FAULTS, doubled: 0.5 },
  "that come late": { ...NO_FAULTS, late: 0.3 },
  "of an unknown version": { ...NO_FAULTS, changed: 0.3 },
  "that break off": { ...NO_FAULTS, cut: 0.3 },
  "with all these faults": { lost: 0.1, doubled: 0.1, late: 0.1, changed: 0.1, cut: 0.1 },
};

for (const [name, faults] of Object.entries(FAULTS)) {
  testStores(`messages ${name} do readers no harm`, async () => {
    const { network, owner, other } = await startPair();
    network.faults = faults;
    const lookups = (): number => other.counts.missed + other.counts.silent;
    const runs = await Promise.all(numbersTo(8).map((index) => MadeRun.open(owner, `resp_${index}`)));
    const shown = await Promise.all(
      runs.map(async (run) => {
        const seen: number[] = [];
        const reading = follow(other, run.id, seen);
        for (let turn = 0; turn < 30; turn++) {
          await run.say(1 + (turn % 3));
          await sleep(10);
        }
        // If the requests to follow are lost, nothing shows it for a second, and a run may be over by then.
        while (faults.lost > 0 && lookups() === 0) {
          await run.say(1);
          await sleep(10);
        }
        await run.end();
        await reading;
        return { seen, all: run.next };
      }),
    );
    for (const { seen, all } of shown) expect(seen).toEqual(numbersTo(all));
    if (faults.lost > 0) expect(lookups()).toBeGreaterThan(0);
  });
}

testStores("without a broker readers stay about a second behind and lose nothing", async () => {
  const { network, owner, other } = await startPair();
  const run = await MadeRun.open(owner, "resp_1");
  const quiet = await MadeRun.open(owner, "resp_2");
  const [seen, heard]: number[][] = [[], []];
  const reading = [follow(other, run.id, seen ?? []), follow(other, quiet.id, heard ?? [])];
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(2);
  network.isDown = true;
  for (let turn = 0; turn < 20; turn++) {
    await run.say(3);
    await sleep(100);
  }
  await expect.poll(() => seen, { timeout: 3_000 }).toEqual(numbersTo(run.next));
  await run.say(400, "z".repeat(100)); // A chunk, which is not in the journal.
  await expect.poll(() => seen, { timeout: 3_000 }).toEqual(numbersTo(run.next));
  await run.end();
  await reading[0];
  network.isDown = false;
  await quiet.say(1);
  await quiet.end();
  await reading[1];
  expect([seen, heard]).toEqual([numbersTo(run.next), [0, 1]]);
});

testStores("a run that waits for a worker is followed as soon as one has taken it", async () => {
  const { owner, other } = await startPair();
  const run = await MadeRun.open(owner, "resp_1");
  await run.say(2);
  await owner.store.ledger.release(run.id, { hadBegun: true });
  const seen: number[] = [];
  const reading = follow(other, run.id, seen);
  await expect.poll(() => other.counts.places).toBeGreaterThan(0);
  const [claimed] = await claimUnmade(owner.store.ledger, 1);
  expect(claimed?.response.id).toBe(run.id);
  owner.bus.tellTaken([run.id]);
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(1);
  await run.say(2);
  await run.end();
  await reading;
  expect(seen).toEqual(numbersTo(run.next));
});

testStores("readers go on with the worker that took a run over", async () => {
  const { owner, other } = await startPair();
  const run = await MadeRun.open(owner, "resp_1");
  await run.say(2);
  const seen: number[] = [];
  const reading = follow(other, run.id, seen);
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(1);
  await owner.store.ledger.release(run.id, { hadBegun: true });
  run.leave();
  await claimUnmade(other.store.ledger, 1);
  await continueIn(other.store.events, run);
  await reading;
  expect(seen).toEqual(numbersTo(run.next));
});

/** The rest of a run, made by a process that tells nothing of it. */
async function continueIn(events: EventLog, run: MadeRun): Promise<void> {
  await events.append(run.id, deltaEvents(run.next, ["a", "b"]));
  const response = aResponse(run.id, { status: "completed" });
  await events.close(run.id, deltaEvents(run.next + 2, ["."]), { response, outputItems: [] });
  run.next += 3;
}

testStores("who waits for the end of a response hears of it and not of its events", async () => {
  const { network, owner, other } = await startPair();
  const run = await MadeRun.open(owner, "resp_1");
  const waiting = other.bus.waitForEnd(run.id, new AbortController().signal);
  await expect.poll(() => owner.bus.load.publishedRuns).toBe(1);
  await run.say(5);
  await run.end();
  await waiting;
  expect(network.sent.filter(({ text }) => text.includes('"events"'))).toEqual([]);
  const leaving = new AbortController();
  const second = await MadeRun.open(owner, "resp_2");
  const left = other.bus.waitForEnd(second.id, leaving.signal);
  leaving.abort();
  await left;
  expect(other.bus.load.watchedRuns).toBe(0);
});

testStores("stops, work and taken runs are told to everyone at once", async () => {
  const told: string[] = [];
  const network = new MemoryNetwork();
  const file = temporaryFile();
  const duties = {
    lookForStops: (ids: readonly string[]) => void told.push(`stop ${ids.join()}`),
    lookForWork: () => void told.push("work"),
    lookForStopped: () => void told.push("stopped"),
    forgetKeys: () => void told.push("keys"),
  };
  const one = await startNode(network, file);
  await startNode(network, file, duties);
  one.bus.tellStop("resp_1");
  one.bus.tellWork();
  one.bus.tellWork(); // Both are one message.
  await expect.poll(() => told.toSorted()).toEqual(["stop resp_1", "work"]);
});
