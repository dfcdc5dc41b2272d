import { setImmediate as endOfTick } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RedoPart } from "../../rows/runs/write-job.ts";
import { CommitQueue } from "./commit-queue.ts";

const WORKER = 3;

class Passing extends Error {}
class Over extends Error {}

type Fault = "passing" | "final" | "over" | null;

/** A store that keeps what is committed in order, with a fault for each commit. Jobs below 0 can never be stored. */
function storeWith(faults: Iterator<Fault> = [].values(), underWayMax = 2) {
  const stored: number[] = [];
  const parts: RedoPart[] = [];
  const refused: number[] = [];
  let position = 0;
  let end = 0;
  let lastCommit: Promise<unknown> = Promise.resolve();
  const perform = async (jobs: readonly number[], redo: RedoPart | null): Promise<readonly number[]> => {
    await endOfTick();
    const fault = faults.next().value ?? null;
    if (fault === "passing") throw new Passing();
    if (fault === "over") throw new Over();
    if (fault === "final" || jobs.some((job) => job < 0)) throw new Error("refused");
    if (redo !== null && redo.start !== position) throw new Passing("a gap");
    if (redo !== null) parts.push(redo);
    position = redo?.end ?? position;
    stored.push(...jobs);
    return jobs;
  };
  const queue = new CommitQueue<number, number>({
    commit: (jobs, redo) => {
      const commit = lastCommit.then(() => perform(jobs, redo));
      lastCommit = commit.catch(() => {});
      return commit;
    },
    underWayMax,
    sizeOf: () => 1,
    intervalMs: 0,
    commitSizeMax: 4,
    loggedJobs: {
      mayPass: (error) => error instanceof Passing,
      isOver: (error) => error instanceof Over,
      onOver: () => {},
      onStored: () => {},
      onOutcome: () => {},
      onRefused: (job) => refused.push(job),
    },
  });
  const addLogged = (job: number | null): void => {
    queue.addLogged(job, { worker: WORKER, start: end, end: end + 10 });
    end += 10;
  };
  return { queue, stored, parts, refused, addLogged };
}

/** Settles until nothing is left, whatever fails meanwhile. */
async function settleAll(queue: CommitQueue<number, number>): Promise<void> {
  for (let settling = queue.settle(); settling !== undefined; settling = queue.settle()) await settling.catch(() => {});
}

test("nobody waits for logged jobs; they share a commit a little later", async () => {
  const { queue, stored, parts, addLogged } = storeWith();
  for (const job of [1, 2, 3]) addLogged(job);
  await endOfTick();
  await endOfTick();
  expect(stored).toEqual([]);
  await expect.poll(() => stored).toEqual([1, 2, 3]);
  expect(parts).toEqual([{ worker: WORKER, start: 0, end: 30, places: [0, 1, 2] }]);
  expect(queue.settle()).toBeUndefined();
  expect(queue.loggedSize).toBe(0);
});

test("whoever settles finds everything so far stored, and waits for nothing that comes later", async () => {
  const { queue, stored, addLogged } = storeWith();
  addLogged(1);
  const settled = queue.settle();
  await endOfTick();
  for (let job = 2; job < 30; job++) addLogged(job);
  await settled;
  expect(stored[0]).toBe(1);
  expect(stored.length).toBeLessThan(29);
});

test("a job that somebody waits for takes the logged ones along, in order", async () => {
  const { queue, stored, parts, addLogged } = storeWith();
  addLogged(1);
  const waited = queue.add(2, "urgent");
  addLogged(3);
  expect(await waited).toBe(2);
  expect(stored).toEqual([1, 2, 3]);
  expect(parts).toEqual([{ worker: WORKER, start: 0, end: 20, places: [0, 2] }]);
});

test("a part of the log without a job is passed over", async () => {
  const { queue, stored, parts, addLogged } = storeWith();
  addLogged(1);
  addLogged(null);
  addLogged(2);
  await queue.settle();
  expect(stored).toEqual([1, 2]);
  expect(parts).toEqual([{ worker: WORKER, start: 0, end: 30, places: [0, 1] }]);
});

test("a job that can never be stored is refused alone, and the log goes on behind it", async () => {
  const { queue, stored, refused, parts, addLogged } = storeWith();
  for (const job of [1, -2, 3]) addLogged(job);
  await settleAll(queue);
  expect(stored).toEqual([1, 3]);
  expect(refused).toEqual([-2]);
  expect(parts.at(-1)?.end).toBe(30);
});

test("when this worker is over, its logged jobs are left to another, and others still get their outcome", async () => {
  const { queue, stored, addLogged } = storeWith((["over", "over"] as const).values());
  addLogged(1);
  const settling = queue.settle();
  await expect(settling).rejects.toBeInstanceOf(Over);
  expect(queue.settle()).toBeUndefined();
  expect(await queue.close()).toBe(true);
  expect(stored).toEqual([]);
});

test("closing tries once, and says whether the log is stored", async () => {
  const { queue, stored, addLogged } = storeWith((["passing"] as const).values());
  addLogged(1);
  expect(await queue.close()).toBe(false);
  expect(stored).toEqual([]);
});

test("whatever fails for a while, each logged job is stored once and in order", async () => {
  const faults = fc.array(fc.constantFrom<Fault>("passing", null, null), { maxLength: 6 });
  const steps = fc.array(fc.constantFrom("logged", "logged", "waited", "tick"), { maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(faults, steps, async (failures, actions) => {
      const { queue, stored, addLogged } = storeWith(failures.values());
      const logged: number[] = [];
      const waited: Promise<unknown>[] = [];
      for (const [job, action] of actions.entries()) {
        if (action === "tick") await endOfTick();
        else if (action === "waited") waited.push(queue.add(1_000 + job, "urgent").catch(() => null));
        else addLogged(logged[logged.push(job) - 1] ?? job);
      }
      await Promise.all(waited);
      await settleAll(queue);
      expect(stored.filter((job) => job < 1_000)).toEqual(logged);
    }),
    { numRuns: 60 },
  );
});
