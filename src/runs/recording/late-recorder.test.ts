import { setTimeout as sleep } from "node:timers/promises";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { expect, test } from "vitest";
import { openTestStore, readAll } from "../../store/store.fixture.ts";
import { foldEvents } from "../fold/fold-events.ts";
import type { EventLog } from "../ports/event-log.ts";
import { aPlan, aResponse } from "../run.fixture.ts";
import { RunHost, type RunOrder } from "../run-host.ts";
import { KEPT_CHARACTERS_MAX } from "./late-recorder.ts";

const OWNER: Owner = { organization: "org", project: "proj" };
const LIMITS = { runsMax: 10, backgroundRunsMax: 10, queueMax: 10, runMs: 60_000 };
const NOBODY = new AbortController().signal;
const STOPS: ModelEvent = { type: "finished", reason: "stop" };

function says(text: string): ModelEvent {
  return { type: "text_delta", text };
}

/** A model that says `first` at once and `STOPS` when released. */
function heldModel(first: readonly ModelEvent[]) {
  const gate = Promise.withResolvers<void>();
  async function* answer(signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    yield first;
    signal.addEventListener("abort", () => gate.resolve(), { once: true });
    await gate.promise;
    yield [says(" the end"), STOPS];
  }
  const ask: RunOrder["ask"] = async (signal) => answer(signal);
  return { ask, release: gate.resolve };
}

function orderFor(id: string, log: EventLog | null, changes: Partial<RunOrder> = {}, previousId?: string): RunOrder {
  const response = aResponse({ id, store: log !== null, previous_response_id: previousId ?? null });
  return {
    plan: aPlan({ response }),
    openedRun: { owner: OWNER, response, inputItems: [] },
    log,
    ask: heldModel([]).ask,
    now: () => 1_800_000_001,
    onFault: () => {},
    ...changes,
  };
}

/** A log that counts its writes by their names. */
async function countingLog(changes: Partial<EventLog> = {}) {
  const store = await openTestStore();
  const { events } = store;
  const writes: string[] = [];
  const log: EventLog = {
    open: (...run) => (writes.push("open"), events.open(...run)),
    append: (...run) => (writes.push("append"), events.append(...run)),
    appendNow: () => false,
    advance: (...run) => (writes.push("advance"), events.advance(...run)),
    close: (...run) => (writes.push("close"), events.close(...run)),
    storeWhole: (...run) => (writes.push("whole"), events.storeWhole(...run)),
    addNote: (id, note) => events.addNote(id, note),
    read: (id, after) => events.read(id, after),
    ...changes,
  };
  return { log, writes, store };
}

/** The events that the same run leaves when it is recorded as it goes. */
async function usualEvents(ask: RunOrder["ask"]): Promise<readonly string[]> {
  const { events } = await openTestStore();
  const run = await new RunHost(LIMITS).start(orderFor("resp_1", events, { ask }), NOBODY);
  await run.outcome;
  return (await readAll(events, "resp_1")).map(({ json }) => json);
}

test("a short plain run is one write, and leaves the events that any other run leaves", async () => {
  const { log, writes, store } = await countingLog();
  const model = heldModel([says("Hello"), says(", you")]);
  model.release();
  const run = await new RunHost(LIMITS).startPlain(orderFor("resp_1", log, { ask: model.ask }), NOBODY);
  const outcome = await run.outcome;
  expect(writes).toEqual(["whole"]);
  expect(outcome).toMatchObject({ type: "ended", response: { status: "completed" } });
  const stored = await readAll(store.events, "resp_1");
  expect(stored.map(({ json }) => json)).toEqual(await usualEvents(model.ask));
  const response = outcome.type === "ended" ? outcome.response : null;
  expect(foldEvents(stored.map(({ event }) => event))).toEqual(response);
  expect(await store.responses.findResponse(OWNER, "resp_1")).toEqual(response);
});

test.each([
  ["a run that makes much", (host: RunHost) => host.list(), "x".repeat(KEPT_CHARACTERS_MAX)],
  ["a run whose server is told to stop", (host: RunHost) => host.closeQueue(), "x"],
  ["a run whose previous response is deleted", (host: RunHost) => host.storeContinuing("resp_0"), "x"],
  ["a run that takes long", () => sleep(1_100), "x"],
])("%s is stored early, and goes on in the store", async (_name, happens, text) => {
  const { log, writes, store } = await countingLog();
  const model = heldModel([says(text)]);
  const host = new RunHost(LIMITS);
  const run = await host.startPlain(orderFor("resp_1", log, { ask: model.ask }, "resp_0"), NOBODY);
  await sleep(1);
  await happens(host);
  while (!run.isStored()) await sleep(1);
  expect(host.listStored()).toEqual(["resp_1"]);
  expect((await store.responses.findResponse(OWNER, "resp_1"))?.status).toBe("in_progress");
  model.release();
  expect(await run.outcome).toMatchObject({ type: "ended", response: { status: "completed" } });
  expect(writes[0]).toBe("open");
  expect(writes.at(-1)).toBe("close");
  const stored = (await readAll(store.events, "resp_1")).map(({ json }) => JSON.parse(json));
  expect(stored.map((event) => event.sequence_number)).toEqual(stored.map((_, index) => index));
  expect(stored.at(-1).response.output[0].content[0].text).toBe(`${text} the end`);
});

test("a run that begins while its server stops is stored at once", async () => {
  const { log, writes } = await countingLog();
  const host = new RunHost(LIMITS);
  await host.closeQueue();
  await host.startPlain(orderFor("resp_1", log), NOBODY);
  expect(writes).toEqual(["open"]);
  expect(await host.stop("resp_1")).toBe(true);
});

test("a run of which nothing can be stored is stopped, and its outcome is the fault", async () => {
  const { log } = await countingLog({ open: () => Promise.reject(new Error("the disk is full")) });
  const host = new RunHost(LIMITS);
  const run = await host.startPlain(orderFor("resp_1", log), NOBODY);
  await host.closeQueue();
  expect(await run.outcome).toMatchObject({ type: "unstored", fault: { message: "the disk is full" } });
  expect(host.list()).toEqual([]);
});

test("a cancelled run is stored as cancelled", async () => {
  const { log, writes } = await countingLog();
  const client = new AbortController();
  const run = await new RunHost(LIMITS).startPlain(orderFor("resp_1", log), client.signal);
  client.abort();
  expect(await run.outcome).toMatchObject({ type: "ended", response: { status: "cancelled" } });
  expect(writes).toEqual(["whole"]);
});

test("a plain run that is not stored records nothing", async () => {
  const model = heldModel([says("Hello")]);
  model.release();
  const run = await new RunHost(LIMITS).startPlain(orderFor("resp_1", null, { ask: model.ask }), NOBODY);
  expect(await run.outcome).toMatchObject({ type: "ended", response: { status: "completed" } });
});
