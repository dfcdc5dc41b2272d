import { expect, test } from "vitest";
import type { EventLog, OpenedRun } from "../ports/event-log.ts";
import { LiveFeed } from "../reading/live-feed.ts";
import type { RecordedEvent } from "../recorded-event.ts";
import { aResponse } from "../run.fixture.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import { createRecorder } from "./event-recorder.ts";

const RESPONSE = aResponse({ status: "completed" });
const END = { response: RESPONSE, outputItems: [] };
const LAST: UnnumberedEvent = { type: "response.completed", response: RESPONSE };

test("the end of a run goes to the log before its last append settles, and is shown after that append", async () => {
  const log = new ManualLog();
  const { recorder, shown } = recorderOf(log);
  await recorder.record([delta("a")]);
  await recorder.record([delta("b")]);
  const closed = recorder.close([LAST], END);
  expect(log.jobs).toEqual(["append 0", "close 1 2"]);
  log.settle("close 1 2");
  log.settle("append 0");
  await closed;
  expect(await shown()).toEqual([0, 1, 2]);
});

test("if the last append fails, the shown end reuses the numbers that nobody has seen", async () => {
  const log = new ManualLog();
  const { recorder, shown } = recorderOf(log);
  await recorder.record([delta("a")]);
  log.settle("append 0");
  await recorder.record([delta("b")]);
  await recorder.record([delta("c")]);
  const closed = recorder.close([LAST], END);
  log.settle("append 1", new Error("the disk is full"));
  log.settle("close 2 3", new Error("out of order"));
  await expect(closed).rejects.toThrow("the disk is full");
  recorder.showUnstoredEnd([LAST]);
  expect(await shown()).toEqual([0, 1]);
});

const OWNER = { organization: "org", project: "proj" };
const FIRST: UnnumberedEvent = { type: "response.created", response: RESPONSE };

test("events that come while the run is being opened go to the log at once, and are shown after its first ones", async () => {
  const log = new ManualLog();
  const { recorder, shown } = recorderOf(log);
  const opened = recorder.open({ owner: OWNER, response: RESPONSE, inputItems: [] }, [FIRST]);
  await recorder.record([delta("a")]);
  expect(log.jobs).toEqual(["open 0", "append 1"]);
  log.settle("append 1");
  await new Promise(setImmediate);
  log.settle("open 0");
  await opened;
  const closed = recorder.close([LAST], END);
  log.settle("close 2");
  await closed;
  expect(await shown()).toEqual([0, 1, 2]);
});

test("if a run cannot be opened, nothing of it is shown", async () => {
  const log = new ManualLog();
  const { recorder, shown } = recorderOf(log);
  const opened = recorder.open({ owner: OWNER, response: RESPONSE, inputItems: [] }, [FIRST]);
  await recorder.record([delta("a")]);
  log.settle("open 0", new Error("the disk is full"));
  log.settle("append 1");
  await expect(opened).rejects.toThrow("the disk is full");
  await expect(recorder.record([delta("b")])).rejects.toThrow("the disk is full");
  recorder.closeFeed();
  expect(await shown()).toEqual([]);
});

/** A log whose writes settle only when the test calls `settle`. */
class ManualLog implements EventLog {
  readonly jobs: string[] = [];
  readonly #held = new Map<string, PromiseWithResolvers<void>>();

  settle(job: string, failure?: Error): void {
    const held = this.#held.get(job);
    if (failure === undefined) held?.resolve();
    else held?.reject(failure);
  }

  appendNow(): boolean {
    return false;
  }

  append(_responseId: string, events: readonly RecordedEvent[]): Promise<void> {
    return this.#hold("append", events);
  }

  close(_responseId: string, events: readonly RecordedEvent[]): Promise<void> {
    return this.#hold("close", events);
  }

  open(_run: OpenedRun, events: readonly RecordedEvent[]): Promise<void> {
    return this.#hold("open", events);
  }

  async advance(): Promise<void> {}
  async storeWhole(): Promise<void> {}
  async addNote(): Promise<void> {}
  async *read(): AsyncGenerator<readonly RecordedEvent[]> {}

  #hold(name: string, events: readonly RecordedEvent[]): Promise<void> {
    const job = [name, ...events.map(({ number }) => number)].join(" ");
    const held = Promise.withResolvers<void>();
    this.jobs.push(job);
    this.#held.set(job, held);
    return held.promise;
  }
}

function recorderOf(log: EventLog) {
  const feed = new LiveFeed(true);
  const reader = feed.subscribe();
  const shown = async (): Promise<readonly number[]> => {
    const numbers: number[] = [];
    for (let batch = await reader.next(); batch !== null; batch = await reader.next())
      numbers.push(...batch.map(({ number }) => number));
    return numbers;
  };
  return { recorder: createRecorder({ responseId: RESPONSE.id, log, feed, nextNumber: 0 }), shown };
}

function delta(text: string): UnnumberedEvent {
  return {
    type: "response.output_text.delta",
    content_index: 0,
    delta: text,
    item_id: "msg_1",
    logprobs: [],
    output_index: 0,
  };
}
