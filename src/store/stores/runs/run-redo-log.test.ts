import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { EventLog } from "../../../runs/ports/event-log.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import { openStore } from "../../open-store.ts";
import { monotonicNow } from "../../owner/workers/own-workers.ts";
import { LEASE_MS } from "../../owner/workers/worker-lease.ts";
import { redoFolder } from "../../redo-log/redo-folders.ts";
import { numbersFrom, openTestStore, readNumbers, temporaryFile } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { type LoggedWrite, RunRedoLog } from "./run-redo-log.ts";
import { textEvents } from "./text-events.fixture.ts";

const RUN = "resp_1";
const run = (id = RUN) => ({ owner: OURS, response: aResponse(id), inputItems: [] });

/** Opens a run whose later events go to the redo log. */
async function openRun(events: EventLog, id = RUN): Promise<void> {
  await events.open(run(id), textEvents(0, 1));
}

test("what is durable in the log is found by every read at once, and is in the database soon", async () => {
  const file = temporaryFile();
  const { events, responses } = await openTestStore({ file });
  await openRun(events, "resp_first"); // The worker has no number yet, so this is a commit.
  for (let round = 0; round < 20; round++) {
    const id = `resp_${round}`;
    await openRun(events, id);
    await events.append(id, textEvents(1, 3));
    expect((await responses.findResponse(OURS, id))?.id).toBe(id);
    await events.append(id, textEvents(4, 1));
    expect(await readNumbers(events, id)).toEqual(numbersFrom(0, 4));
  }
  expect(existsSync(redoFolder(file))).toBe(true);
});

test("a clean stop leaves no log, and everything is there", async () => {
  const file = temporaryFile();
  const store = await openStore({ file });
  await openRun(store.events);
  expect(store.events.appendNow(RUN, textEvents(1, 5))).toBe(true);
  await store.close();
  expect(existsSync(redoFolder(file))).toBe(false);
  expect(await readNumbers((await openTestStore({ file })).events, RUN)).toEqual(numbersFrom(0, 5));
});

test("while another program locks the database, events go on; then they are stored", async () => {
  const file = temporaryFile();
  const { events } = await openTestStore({ file, lockWaitMs: 50 });
  await openRun(events);
  const holder = new DatabaseSync(file);
  holder.exec("begin immediate");
  for (let next = 1; next < 200; next += 1) {
    expect(events.appendNow(RUN, textEvents(next, 1))).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  holder.exec("rollback");
  holder.close();
  await expect.poll(() => readNumbers(events, RUN).catch(() => [])).toEqual(numbersFrom(0, 199));
});

test("after a lost lease nothing is logged of the runs from before it", async () => {
  const file = temporaryFile();
  const { events, ledger } = await openTestStore({ file });
  await openRun(events);
  expect(events.appendNow(RUN, textEvents(1, 1))).toBe(true);
  await expect.poll(() => readNumbers(events, RUN)).toEqual([0, 1]);
  const other = new DatabaseSync(file); // Does what another worker does that finds this one dead.
  other.exec("pragma busy_timeout = 5000; delete from event_journal; delete from workers");
  other.close();
  expect(await ledger.renewLease()).toBe(false);
  await openRun(events, "resp_2");
  expect(events.appendNow(RUN, textEvents(2, 1))).toBe(false);
  await expect(events.append(RUN, textEvents(2, 1))).rejects.toThrow(RunLost);
  expect(events.appendNow("resp_2", textEvents(1, 1))).toBe(true);
});

test("a run that another worker has removed is lost at its end, and later changes are no longer logged", async () => {
  const file = temporaryFile();
  const { events } = await openTestStore({ file });
  await openRun(events);
  const other = new DatabaseSync(file);
  other.exec("update responses set worker = null");
  other.close();
  await events.append(RUN, textEvents(1, 1));
  const end = { response: aResponse(RUN, { status: "completed" }), outputItems: [] };
  await expect(events.close(RUN, textEvents(2, 1), end)).rejects.toThrow(RunLost);
  // A change that is logged after that is refused by its commit, and the next one finds that out.
  const again = async () => await events.append(RUN, textEvents(2, 1)).catch((error: unknown) => error);
  await expect.poll(again).toBeInstanceOf(RunLost);
});

test("a commit that waits for the disk has no log before it", async () => {
  const file = temporaryFile();
  const { events } = await openTestStore({ file, sync: "full" });
  await openRun(events);
  expect(events.appendNow(RUN, textEvents(1, 1))).toBe(false);
  expect(existsSync(redoFolder(file))).toBe(false);
});

describe("the log is written only by a worker that surely holds its lease", () => {
  const NUMBER = 5;
  const job = { type: "append", responseId: RUN, events: [] } as const;
  const msAgo = (ms: number): bigint => monotonicNow() - BigInt(ms) * 1_000_000n;

  const written = (log: RunRedoLog): LoggedWrite => (log.takes(job) ? log.write([job]) : { type: "refused" });

  function ownWorker(number: number, renewedAt: bigint) {
    return { numbers: new Int32Array([number]), renewals: new BigInt64Array([renewedAt]), place: 0 };
  }

  test.each([
    { name: "just renewed", number: NUMBER, ageMs: 0, type: "safe" },
    { name: "renewed in time", number: NUMBER, ageMs: LEASE_MS / 2, type: "safe" },
    { name: "renewed too long ago", number: NUMBER, ageMs: LEASE_MS - 2_000, type: "refused" },
    { name: "lost", number: 0, ageMs: 0, type: "refused" },
  ])("$name", ({ number, ageMs, type }) => {
    const log = new RunRedoLog(temporaryFile(), ownWorker(number, msAgo(ageMs)));
    expect(written(log).type).toBe(type);
    log.giveUp();
    expect(written(log).type).toBe("refused"); // Its rest is left to another worker.
  });

  test("a new number begins a new log", () => {
    const own = ownWorker(NUMBER, msAgo(0));
    const log = new RunRedoLog(temporaryFile(), own);
    expect(written(log)).toMatchObject({ type: "safe", span: { worker: NUMBER, start: 0 } });
    own.numbers[0] = NUMBER + 1;
    expect(written(log)).toMatchObject({ type: "safe", span: { worker: NUMBER + 1, start: 0 } });
  });

  test("a file that cannot be written leaves the change to its commit", () => {
    const log = new RunRedoLog("/dev/null/antiphon.db", ownWorker(NUMBER, msAgo(0)));
    expect(written(log).type).toBe("refused");
  });
});
