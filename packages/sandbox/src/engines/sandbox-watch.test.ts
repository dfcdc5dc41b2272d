import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { watchSandbox } from "./sandbox-watch.ts";

const LIMITS = { memoryBytes: 2 ** 40, diskBytes: 2 ** 40, processesMax: 10_000 };
const LOOKED_MS = 250;

test.skipIf(process.platform !== "linux")("folders of this machine do not count while a sandbox ends", async () => {
  const reasons: string[] = [];
  const over = new AbortController();
  // Only this process and its children, none of which is in a sandbox. The machine's own folder has many files.
  const watched = { root: process.pid, limits: LIMITS, ownProcesses: 0, folders: ["/"] };
  const watching = watchSandbox(watched, (reason) => reasons.push(reason), over.signal);
  await setTimeout(LOOKED_MS);
  over.abort();
  await watching;
  expect(reasons).toEqual([]);
});
