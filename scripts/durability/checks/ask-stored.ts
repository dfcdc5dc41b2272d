import { setTimeout as sleep } from "node:timers/promises";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { CHECK_MS_MAX, READ_MS_MAX, RETRY_MS } from "../limits.ts";
import type { Run } from "../runs/run.ts";
import { sseData } from "../runs/sse-data.ts";
import { anyNode, type System } from "../systems/system.ts";
import { judgeRun, type Stored, type StoredRun, type Verdict } from "./judge-run.ts";

const JUDGED_AT_ONCE = 4;

/** Compares what the readers of these runs were shown with what the nodes say now. */
export async function judgeRuns(runs: readonly Run[], system: System): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const left = runs.values();
  const work = async (): Promise<void> => {
    for (const run of left) {
      const stored = run.id === null ? null : await askStored(run.id, run.shown.end !== null, system);
      verdicts.push(judgeRun(run, stored, system.judging));
    }
  };
  await Promise.all(Array.from({ length: JUDGED_AT_ONCE }, work));
  return verdicts;
}

/** The replay of a run that has not ended would not end either, and is not asked for. */
async function askStored(id: string, hasEnded: boolean, system: System): Promise<StoredRun> {
  const { replayPath, snapshotPath } = system.api;
  const readReplay = async (reply: Response): Promise<string[]> => await Array.fromAsync(sseData(reply));
  return {
    replay: hasEnded ? await ask(system, replayPath(id), readReplay) : { type: "unreadable", why: "it has no end" },
    snapshot: await ask(system, snapshotPath(id), async (reply) => readJson(await reply.text())),
  };
}

/** Asks any node until it answers, but no longer than `CHECK_MS_MAX`. A refusal is final. */
async function ask<Value>(
  { api, nodes }: System,
  path: string,
  read: (reply: Response) => Promise<Value>,
): Promise<Stored<Value>> {
  const until = Date.now() + CHECK_MS_MAX;
  let why = "";
  for (; Date.now() < until; await sleep(RETRY_MS)) {
    try {
      const url = (await anyNode(nodes, until)) + path;
      const reply = await fetch(url, { headers: api.headers, signal: AbortSignal.timeout(READ_MS_MAX) });
      if (reply.ok) return { type: "read", value: await read(reply) };
      why = `${reply.status}: ${await reply.text()}`;
      if (reply.status < 500) break;
    } catch (error) {
      why = String(error); // The node may not be ready yet.
    }
  }
  return { type: "unreadable", why };
}
