import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { expect, test } from "vitest";
import { claimUnmade } from "../store/claim-unmade.fixture.ts";
import { openTestStore, readAll } from "../store/store.fixture.ts";
import type { EventLog } from "./ports/event-log.ts";
import { RunLost } from "./ports/store-faults.ts";
import { aPlan, aResponse } from "./run.fixture.ts";
import { INTERRUPTED_FAILURE } from "./run-failures.ts";
import { QueueClosed, RunHost, type RunOrder } from "./run-host.ts";

const OWNER: Owner = { organization: "org", project: "proj" };
const LIMITS = { runsMax: 10, backgroundRunsMax: 10, queueMax: 10, runMs: 60_000 };

/** A model that says nothing until it is aborted. `asked` resolves to its signal. */
function silentModel() {
  const asked = Promise.withResolvers<AbortSignal>();
  async function* silence(signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield* [];
  }
  const ask: RunOrder["ask"] = async (signal) => {
    asked.resolve(signal);
    return silence(signal);
  };
  return { ask, asked: asked.promise };
}

function orderFor(id: string, log: EventLog | null, changes: Partial<RunOrder> = {}): RunOrder {
  const response = aResponse({ id, store: log !== null, background: true, status: "queued" });
  return {
    plan: aPlan({ response }),
    openedRun: { owner: OWNER, response, inputItems: [] },
    log,
    ask: silentModel().ask,
    now: () => 1_800_000_001,
    onFault: () => {},
    ...changes,
  };
}

test("closing the queue also releases a run that is just being stored", async () => {
  const { events } = await openTestStore();
  const host = new RunHost({ ...LIMITS, backgroundRunsMax: 1 });
  await host.enqueue(orderFor("resp_running", events));
  const entering = host.enqueue(orderFor("resp_entering", events));
  expect(await host.closeQueue()).toEqual(["resp_entering"]);
  await entering;
  expect(host.list()).toEqual(["resp_running"]);
  await expect(host.enqueue(orderFor("resp_late", events))).rejects.toThrow(QueueClosed);
  await host.releaseAll(host.list());
});

test("the model call is aborted if the run is lost before the first batch", async () => {
  const { events } = await openTestStore();
  const log: EventLog = {
    open: (run, first) => events.open(run, first),
    append: (id, more) => events.append(id, more),
    appendNow: () => false,
    advance: () => Promise.reject(new RunLost("another worker holds it")),
    close: (id, more, end) => events.close(id, more, end),
    storeWhole: (run, all, end) => events.storeWhole(run, all, end),
    addNote: (id, note) => events.addNote(id, note),
    read: (id, after) => events.read(id, after),
  };
  const host = new RunHost(LIMITS);
  const model = silentModel();
  await host.enqueue(orderFor("resp_1", log, { ask: model.ask }));
  const signal = await model.asked;
  await host.idle();
  expect(signal.aborted).toBe(true);
  expect(host.load).toEqual({ foreground: 0, background: 0, queueLength: 0 });
});

test("a commit that fails once leaves no gap in the numbers", async () => {
  const { events } = await openTestStore();
  const log: EventLog = {
    open: (run, first) => events.open(run, first),
    append: (id, more) => events.append(id, more),
    appendNow: () => false,
    advance: () => Promise.reject(new Error("the disk was full for a moment")),
    close: (id, more, end) => events.close(id, more, end),
    storeWhole: (run, all, end) => events.storeWhole(run, all, end),
    addNote: (id, note) => events.addNote(id, note),
    read: (id, after) => events.read(id, after),
  };
  const host = new RunHost(LIMITS);
  await host.enqueue(orderFor("resp_1", log));
  await host.idle();
  const stored = await readAll(events, "resp_1");
  expect(stored.map(({ event }) => event.type)).toEqual([
    "response.created",
    "response.queued",
    "error",
    "response.failed",
  ]);
});

test("a run with an internal fault gives its place back and can be claimed", async () => {
  const { events, ledger } = await openTestStore();
  const host = new RunHost(LIMITS);
  const faults: unknown[] = [];
  const onFault = (fault: unknown): unknown => faults.push(fault);
  const onEnd = (): never => {
    throw new TypeError("broken");
  };
  const ask: RunOrder["ask"] = () => Promise.reject(new Error("no model"));
  await host.enqueue(orderFor("resp_1", events, { ask, onEnd, onFault }));
  await host.idle();
  expect(faults.map(String)).toEqual(["Error: no model", "TypeError: broken"]);
  expect(host.load.background).toBe(0);
  expect(await claimUnmade(ledger, 10, (id) => host.has(id))).toHaveLength(1);
});

test("a run that times out before its model accepts ends with the timeout failure, even if the model call rejects", async () => {
  const { events } = await openTestStore();
  const host = new RunHost({ ...LIMITS, runMs: 30 });
  const ask: RunOrder["ask"] = (signal) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  const response = aResponse({ id: "resp_1" });
  const order = orderFor("resp_1", events, { ask, plan: aPlan({ response }) });
  const run = await host.start({ ...order, openedRun: { ...order.openedRun, response } }, new AbortController().signal);
  await run.outcome;
  expect((await readAll(events, "resp_1")).at(-1)?.json).toContain("took longer than");
});

test("a run that only has to be ended does not wait in the queue", async () => {
  const { events } = await openTestStore();
  const host = new RunHost({ ...LIMITS, backgroundRunsMax: 1 });
  await host.enqueue(orderFor("resp_running", events));
  const { openedRun } = orderFor("resp_left", events);
  await events.open(openedRun, []);
  await host.resume(orderFor("resp_left", events), [], INTERRUPTED_FAILURE);
  expect((await readAll(events, "resp_left")).at(-1)?.event.type).toBe("response.failed");
  await host.releaseAll(host.list());
});
