import { setImmediate as endOfTick, setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { CommitQueue, type CommitQueueOptions, type CommitReport } from "./commit-queue.ts";

function recordingQueue(options: Partial<CommitQueueOptions<number, number>> = {}) {
  const commits: (readonly number[])[] = [];
  const queue = new CommitQueue<number, number>({
    commit: async (jobs) => {
      commits.push(jobs);
      return jobs.map((job) => job * 10);
    },
    underWayMax: 1,
    sizeOf: (job) => job,
    intervalMs: 50,
    commitSizeMax: 1_000,
    ...options,
  });
  return { queue, commits };
}

test("jobs of one tick share a commit, and each gets its own outcome", async () => {
  const { queue, commits } = recordingQueue();
  expect(await Promise.all([1, 2, 3].map((job) => queue.add(job, "shared")))).toEqual([10, 20, 30]);
  expect(commits).toEqual([[1, 2, 3]]);
});

test("after a pause a job is committed at the end of its tick", async () => {
  const { queue, commits } = recordingQueue();
  void queue.add(1, "shared");
  await endOfTick();
  expect(commits).toEqual([[1]]);
});

test("jobs that follow a commit wait until the interval is over", async () => {
  const { queue, commits } = recordingQueue({ intervalMs: 20 });
  await queue.add(1, "shared");
  const second = queue.add(2, "shared");
  await endOfTick();
  const third = queue.add(3, "shared");
  expect(commits).toEqual([[1]]);
  await Promise.all([second, third]);
  expect(commits).toEqual([[1], [2, 3]]);
});

test("an urgent job takes all waiting jobs along at the end of its tick", async () => {
  const { queue, commits } = recordingQueue({ intervalMs: 60_000 });
  await queue.add(1, "shared");
  const second = queue.add(2, "shared");
  await Promise.all([second, queue.add(3, "urgent")]);
  expect(commits).toEqual([[1], [2, 3]]);
});

test("a commit takes no more than its size, and the rest follows at once", async () => {
  const { queue, commits } = recordingQueue({ intervalMs: 60_000, commitSizeMax: 10 });
  await Promise.all([6, 6, 6, 1].map((job) => queue.add(job, "shared")));
  expect(commits).toEqual([
    [6, 6],
    [6, 1],
  ]);
});

test("a full queue does not wait for the interval", async () => {
  const { queue, commits } = recordingQueue({ intervalMs: 60_000, commitSizeMax: 10 });
  await queue.add(1, "shared");
  await queue.add(10, "shared");
  expect(commits).toEqual([[1], [10]]);
});

test("a failing commit rejects its jobs and no others", async () => {
  let attempts = 0;
  const reports: CommitReport[] = [];
  const { queue } = recordingQueue({
    intervalMs: 0,
    commit: async (jobs) => {
      attempts++;
      if (attempts === 1) throw new Error("disk full");
      return jobs;
    },
    onCommit: (report) => reports.push(report),
  });
  const first = await Promise.allSettled([queue.add(1, "shared"), queue.add(2, "shared")]);
  expect(first.map((settled) => settled.status)).toEqual(["rejected", "rejected"]);
  expect(await queue.add(3, "shared")).toBe(3);
  expect(reports.map(({ jobs, hasFailed }) => ({ jobs, hasFailed }))).toEqual([
    { jobs: 2, hasFailed: true },
    { jobs: 1, hasFailed: false },
  ]);
});

test.each([1, 2, 3])("at most %i commits are under way, and jobs keep their order", async (underWayMax) => {
  let running = 0;
  let most = 0;
  const { queue, commits } = recordingQueue({
    underWayMax,
    intervalMs: 0,
    commit: async (jobs) => {
      commits.push(jobs);
      most = Math.max(most, ++running);
      await sleep(2);
      running--;
      return jobs;
    },
  });
  const added: Promise<number>[] = [];
  for (let job = 0; job < 20; job++) {
    added.push(queue.add(job, job % 2 === 0 ? "urgent" : "shared"));
    await endOfTick();
  }
  expect(await Promise.all(added)).toHaveLength(20);
  expect(most).toBe(underWayMax);
  expect(commits.flat()).toEqual(Array.from({ length: 20 }, (_, job) => job));
});

test("jobs that find a place under way are committed before the earlier commit has ended", async () => {
  const ends: (() => void)[] = [];
  const { queue, commits } = recordingQueue({
    underWayMax: 2,
    intervalMs: 0,
    commit: async (jobs) => {
      commits.push(jobs);
      await new Promise<void>((resolve) => ends.push(resolve));
      return jobs;
    },
  });
  const added: Promise<number>[] = [];
  for (let job = 1; job <= 4; job++) {
    added.push(queue.add(job, "shared"));
    await endOfTick();
  }
  expect(commits).toEqual([[1], [2]]);
  ends[0]?.();
  await added[0];
  await endOfTick();
  await endOfTick();
  expect(commits).toEqual([[1], [2], [3, 4]]);
  const closed = queue.close();
  for (const end of ends) end();
  await closed;
  expect(await Promise.all(added)).toEqual([1, 2, 3, 4]);
});

test("closing commits what waits and refuses what comes later", async () => {
  const { queue, commits } = recordingQueue({ intervalMs: 60_000 });
  await queue.add(1, "shared");
  const second = queue.add(2, "shared");
  await queue.close();
  expect(await second).toBe(20);
  await expect(queue.add(3, "urgent")).rejects.toThrow("closed");
  expect(commits).toEqual([[1], [2]]);
});
