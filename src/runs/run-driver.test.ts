import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../tests/kit/temporary-folder.ts";
import { verifies } from "../../tests/verifies.ts";
import { openStore, type Store } from "../store/open-store.ts";
import type { EventLog } from "./ports/event-log.ts";
import type { RunWatch } from "./ports/run-watch.ts";
import { READER_LAG_CHARACTERS_MAX } from "./reading/live-feed.ts";
import { readEvents } from "./reading/read-events.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import { aPlan, aResponse } from "./run.fixture.ts";
import type { RunStart } from "./run-driver.ts";
import { ANSWER_CHARACTERS_MAX } from "./run-failures.ts";
import { type LiveRun, startRun } from "./start-run.ts";

const owner: Owner = { organization: "org", project: "proj" };
const says = (text: string): ModelEvent => ({ type: "text_delta", text });
const stops: ModelEvent = { type: "finished", reason: "stop" };

async function* turn(...batches: readonly (readonly ModelEvent[])[]): AsyncGenerator<readonly ModelEvent[]> {
  for (const batch of batches) {
    await new Promise(setImmediate);
    yield batch;
  }
}

let store: Store;
let runs = 0;

beforeEach(async () => {
  store = await openStore({ file: join(temporaryFolder(), "test.db") });
});
afterEach(() => store.close());

/** The log of a store, with members that can be replaced. */
function eventLogOf({ events }: Store): EventLog {
  return {
    open: (run, first) => events.open(run, first),
    append: (id, more) => events.append(id, more),
    appendNow: () => false,
    advance: (id, more, response) => events.advance(id, more, response),
    close: (id, more, end) => events.close(id, more, end),
    storeWhole: (run, all, end) => events.storeWhole(run, all, end),
    addNote: (id, note) => events.addNote(id, note),
    read: (id, after) => events.read(id, after),
  };
}

function begin(changes: Partial<RunStart>): Promise<LiveRun> {
  runs += 1;
  const response = aResponse({ id: `resp_${runs}`, store: changes.log !== null });
  return startRun({
    plan: aPlan({ response }),
    openedRun: { owner, response, inputItems: [] },
    log: store.events,
    ask: async () => turn([says("Hi")], [stops]),
    signal: new AbortController().signal,
    now: () => 1_800_000_001,
    onFault: () => {},
    ...changes,
  });
}

async function allOf(batches: AsyncIterable<readonly RecordedEvent[]>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

async function typesOf(batches: AsyncIterable<readonly RecordedEvent[]>): Promise<string[]> {
  return (await allOf(batches)).map(({ event }) => event.type);
}

function replay(id: string, after = -1): Promise<string[]> {
  return typesOf(readEvents({ responseId: id, log: store.events, live: null, isLiveFromStart: false }, after));
}

describe("a stored run", () => {
  test("is in the store before its first event is shown", async () => {
    verifies("responses.get.id-valid-from-created");
    const run = await begin({});
    expect((await store.responses.findResponse(owner, run.responseId))?.status).toBe("in_progress");
    await typesOf(run.events);
  });

  test("is final in the store before its last event is shown", async () => {
    verifies("responses.stream.durable-before-terminal", "responses.get.equals-terminal-event");
    const run = await begin({});
    for await (const batch of run.events) {
      const last = batch.at(-1)?.event;
      if (last?.type === "response.completed")
        expect(await store.responses.findResponse(owner, run.responseId)).toEqual(last.response);
    }
  });

  test("replays exactly what was shown, from any number on", async () => {
    verifies("responses.replay.equals-the-original", "responses.replay.starting-after");
    const run = await begin({});
    const shown = await typesOf(run.events);
    expect(await replay(run.responseId)).toEqual(shown);
    for (let after = 0; after < shown.length; after++)
      expect(await replay(run.responseId, after)).toEqual(shown.slice(after + 1));
  });

  test("does not wait for a slow reader, who still sees every event once", async () => {
    const count = READER_LAG_CHARACTERS_MAX / 64;
    const batches = Array.from({ length: count / 64 }, () => Array.from({ length: 64 }, () => says("x")));
    const run = await begin({ ask: async () => turn(...batches, [stops]) });
    const first: IteratorResult<readonly RecordedEvent[], unknown> = await run.events.next();
    await run.outcome; // The reader reads nothing meanwhile.
    const seen = first.done === true ? [] : first.value;
    const numbers = [...seen, ...(await allOf(run.events))].map(({ number }) => number);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(numbers.length).toBeGreaterThan(count);
  });

  test("that is cancelled ends as cancelled, and its model call is aborted", async () => {
    const controller = new AbortController();
    let left = false;
    async function* endless(): AsyncGenerator<readonly ModelEvent[]> {
      try {
        for (;;) {
          await new Promise(setImmediate);
          yield [says("x")];
        }
      } finally {
        left = true;
      }
    }
    const run = await begin({ ask: async () => endless(), signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    const types = await typesOf(run.events);
    expect(types.at(-1)).toBe("response.failed");
    expect(left).toBe(true);
    expect((await store.responses.findResponse(owner, run.responseId))?.status).toBe("cancelled");
  });

  test("whose model fails ends as failed, with the model's message", async () => {
    verifies("chat-engine.errors.failed-event-after", "responses.stream.error-event-is-nested");
    async function* dying(): AsyncGenerator<readonly ModelEvent[]> {
      yield [says("Hel")];
      throw new ModelError("the upstream is gone", { status: 502, type: "server_error" });
    }
    const run = await begin({ ask: async () => dying() });
    expect((await typesOf(run.events)).slice(-2)).toEqual(["error", "response.failed"]);
    expect(await store.responses.findResponse(owner, run.responseId)).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "the upstream is gone" },
    });
  });

  test("whose model never stops ends as failed at the length limit, and its model call is aborted", async () => {
    const page = "x".repeat(1024 * 1024);
    let pages = 0;
    async function* endless(): AsyncGenerator<readonly ModelEvent[]> {
      for (; pages < 1000; pages++) yield [says(page)];
    }
    const run = await begin({ ask: async () => endless() });
    expect((await typesOf(run.events)).slice(-2)).toEqual(["error", "response.failed"]);
    expect(pages * page.length).toBeLessThan(ANSWER_CHARACTERS_MAX + 2 * page.length);
  });

  test("reports an internal fault without showing its message to the client", async () => {
    verifies("errors.messages.no-internals");
    const faults: unknown[] = [];
    async function* broken(): AsyncGenerator<readonly ModelEvent[]> {
      yield [says("Hel")];
      throw new TypeError("secret detail");
    }
    const run = await begin({ ask: async () => broken(), onFault: (fault) => faults.push(fault) });
    const last = (await allOf(run.events)).at(-1)?.json;
    expect(last).not.toContain("secret detail");
    expect(faults).toHaveLength(1);
  });
});

describe("a run whose storing fails", () => {
  function failing(method: "append" | "close"): EventLog {
    const whole = eventLogOf(store);
    return {
      ...whole,
      append: (id, more) => (method === "append" ? Promise.reject(new Error("disk full")) : whole.append(id, more)),
      close: () => Promise.reject(new Error("disk full")),
    };
  }

  test.each(["append", "close"] as const)(
    "at its %s still ends for live readers, without a gap in the numbers",
    async (method) => {
      const run = await begin({ log: failing(method), ask: async () => turn([says("Hi")], [says("Ho")], [stops]) });
      const events = await allOf(run.events);
      expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => index));
      const types = events.map(({ event }) => event.type);
      expect(types.slice(-2)).toEqual(["error", "response.failed"]);
      const count = (type: string): number => types.filter((other) => other === type).length;
      expect(count("response.output_item.done")).toBe(count("response.output_item.added"));
      await run.outcome;
    },
  );
});

test("a run that cannot be stored when it begins is refused, and told to nobody else", async () => {
  const told: string[] = [];
  const watch: RunWatch = {
    trace: null,
    began: () => told.push("began"),
    countEvents: () => {},
    noteFailure: () => told.push("failed"),
    noteEnd: () => told.push("ended"),
    noteRefusal: () => told.push("refused"),
    noteLeave: () => told.push("left"),
    noteIncident: () => told.push("happened"),
  };
  const log: EventLog = {
    ...eventLogOf(store),
    open: async () => {
      await sleep(20); // The model speaks meanwhile.
      throw new Error("disk full");
    },
  };
  const onFault = (): unknown => told.push("fault");
  const onEnd = (): unknown => told.push("end");
  const begun = begin({ log, watch, onFault, onEnd, ask: async () => turn([says("Hi")], [says("Ho")], [stops]) });
  await expect(begun).rejects.toThrow("disk full");
  await sleep(20);
  expect(told).toEqual(["began"]);
});

describe("a run that is not stored", () => {
  test("leaves nothing behind", async () => {
    verifies("state.store.false-leaves-nothing");
    const run = await begin({ log: null });
    expect((await typesOf(run.events)).at(-1)).toBe("response.completed");
    expect(await store.responses.findResponse(owner, run.responseId)).toBeNull();
    expect(await replay(run.responseId)).toEqual([]);
  });

  test("waits for its reader instead of buffering events", async () => {
    let taken = 0;
    async function* fast(): AsyncGenerator<readonly ModelEvent[]> {
      for (let batch = 0; batch < 200; batch++) {
        taken += 64;
        yield Array.from({ length: 64 }, () => says("x"));
      }
      yield [stops];
    }
    const run = await begin({ log: null, ask: async () => fast() });
    await run.events.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(taken).toBeLessThan(3 * 1024);
    expect((await typesOf(run.events)).length).toBeGreaterThan(200 * 64);
  });
});
