import { expect, onTestFinished, test } from "vitest";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import { freePlace, monotonicNow, noteRenewal, setNumber, takePlace } from "../../owner/workers/own-workers.ts";
import { packEvents } from "../../rows/events/event-block.ts";
import { originOf } from "../../rows/runs/summary-columns.ts";
import type { RedoJob, WriteOutcome } from "../../rows/runs/write-job.ts";
import { openTestStore, temporaryFile } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { RunCommits } from "./run-commits.ts";
import { RunRedoLog } from "./run-redo-log.ts";
import { textEvents } from "./text-events.fixture.ts";

/** A redo log of a worker that holds its lease, with a database that answers like this, one commit after the other. */
async function logWith(answers: readonly Promise<readonly WriteOutcome[]>[]): Promise<RunCommits> {
  const file = temporaryFile();
  await openTestStore({ file });
  const own = takePlace();
  onTestFinished(() => freePlace(own));
  setNumber(own, 1_000);
  noteRenewal(own, monotonicNow());
  const left = [...answers];
  const commit = async (): Promise<readonly WriteOutcome[]> => (await left.shift()) ?? [];
  return new RunCommits({ calls: { commit }, redoLog: new RunRedoLog(file, own), intervalMs: 0 });
}

const OPEN = {
  type: "open" as const,
  responseId: "resp_1",
  owner: OURS,
  snapshot: { ...aResponse("resp_1"), body: "{}" },
  origin: originOf({ owner: OURS, response: aResponse("resp_1"), inputItems: [] }),
  task: null,
  steers: null,
  streamed: true,
  conversationId: null,
  items: [],
  events: packEvents(textEvents(0, 1)),
} satisfies RedoJob;

test("a change that overtakes a logged one, whose commit failed, is to be retried", async () => {
  const first = Promise.withResolvers<readonly WriteOutcome[]>();
  const second = Promise.withResolvers<readonly WriteOutcome[]>();
  const commits = await logWith([first.promise, second.promise, Promise.resolve(["written", "written"])]);
  expect(commits.addNow(OPEN)).toBe(true);
  const settled = commits.settle(); // Begins the commit of what is logged.
  await new Promise((resolve) => setImmediate(resolve));
  const append = { type: "append", responseId: "resp_1", events: packEvents(textEvents(1, 1)) } as const;
  const overtaking = commits.add(append, "urgent"); // Begins the next one.
  await new Promise((resolve) => setImmediate(resolve));
  first.reject(new StoreBusy("locked"));
  await expect(settled).rejects.toThrow(StoreBusy);
  second.resolve(["out_of_order"]);
  await expect(overtaking).rejects.toThrow(StoreBusy);
  await expect(commits.add(append, "urgent")).resolves.toBe("written");
});
