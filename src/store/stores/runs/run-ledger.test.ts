import { expect, test } from "vitest";
import { leastOf } from "../../../../tests/kit/cpu-time.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import {
  numbersFrom,
  openCommittingStore,
  readNumbers,
  runSql,
  temporaryFile,
  testStores,
} from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { textEvents } from "./text-events.fixture.ts";

const RUN = "resp_1";
const failed = { response: aResponse(RUN, { status: "failed" }), outputItems: [] };

async function change(file: string, sql: string): Promise<void> {
  await runSql(file, sql);
}

/** Two workers on one database; the first has started a run. */
async function twoWorkers() {
  const file = temporaryFile();
  const one = await openCommittingStore({ file });
  const other = await openCommittingStore({ file });
  await one.events.open({ owner: OURS, response: aResponse(RUN), inputItems: [], task: "{}" }, textEvents(0, 3));
  return { file, one, other };
}

testStores("a run that a living worker holds is nobody else's", async () => {
  const { one, other } = await twoWorkers();
  expect(await claimUnmade(other.ledger, 10)).toEqual([]);
  await expect(other.events.append(RUN, textEvents(3, 1))).rejects.toThrow(RunLost);
  await one.events.append(RUN, textEvents(3, 1));
  expect(await readNumbers(other.events, RUN)).toEqual(numbersFrom(0, 3));
});

testStores("what a worker has journaled is read by others while the run goes on", async () => {
  const { one, other } = await twoWorkers();
  for (let number = 3; number < 300; number += 3) await one.events.append(RUN, textEvents(number, 3));
  expect(await readNumbers(other.events, RUN)).toEqual(numbersFrom(0, 299));
  expect(await readNumbers(other.events, RUN, 200)).toEqual(numbersFrom(201, 299));
});

testStores("a worker whose lease ran out loses its runs, and whatever it still writes changes nothing", async () => {
  const { file, one, other } = await twoWorkers();
  await one.events.append(RUN, textEvents(3, 2));
  await change(file, "update workers set expires_at = 0 where id = 1");
  const [claimed] = await claimUnmade(other.ledger, 10);
  expect(claimed).toMatchObject({ owner: OURS, task: "{}", response: { id: RUN, status: "in_progress" } });
  await expect(one.events.append(RUN, textEvents(5, 1))).rejects.toThrow(RunLost);
  await expect(one.events.close(RUN, textEvents(5, 1), failed)).rejects.toThrow(RunLost);
  await other.events.append(RUN, textEvents(5, 1));
  await other.events.close(RUN, textEvents(6, 1), failed);
  expect(await readNumbers(one.events, RUN)).toEqual(numbersFrom(0, 6));
  expect((await one.responses.findResponse(OURS, RUN))?.status).toBe("failed");
});

testStores("a worker that was removed as dead continues with a new number", async () => {
  const { file, one, other } = await twoWorkers();
  await change(file, "update workers set expires_at = 0 where id = 1");
  await claimUnmade(other.ledger, 10);
  expect(await one.ledger.renewLease()).toBe(false);
  await one.events.open({ owner: OURS, response: aResponse("resp_2"), inputItems: [] }, textEvents(0, 1));
  await one.events.append("resp_2", textEvents(1, 1));
  await expect(one.events.append(RUN, textEvents(3, 1))).rejects.toThrow(RunLost);
  expect(await readNumbers(other.events, "resp_2")).toEqual([0, 1]);
  expect(await one.ledger.renewLease()).toBe(true);
});

testStores("a released run is whoever's claims it first", async () => {
  const { one, other } = await twoWorkers();
  await one.events.append(RUN, textEvents(3, 1));
  await one.ledger.release(RUN, { hadBegun: true });
  await expect(one.events.append(RUN, textEvents(4, 1))).rejects.toThrow(RunLost);
  expect((await claimUnmade(other.ledger, 10)).map(({ response }) => response.id)).toEqual([RUN]);
  expect(await claimUnmade(one.ledger, 10)).toEqual([]);
  await other.events.append(RUN, textEvents(4, 1));
  expect(await readNumbers(one.events, RUN)).toEqual(numbersFrom(0, 4));
});

testStores("a worker that leaves orderly leaves its runs with all of their events", async () => {
  const { one, other } = await twoWorkers();
  await one.events.append(RUN, textEvents(3, 20));
  await one.close();
  expect(await claimUnmade(other.ledger, 10)).toHaveLength(1);
  expect(await readNumbers(other.events, RUN)).toEqual(numbersFrom(0, 22));
});

testStores("claims are limited, oldest first, and an ended run is never claimed", async () => {
  const { file, one, other } = await twoWorkers();
  for (const [index, id] of ["resp_b", "resp_c", "resp_d"].entries()) {
    await one.events.open({ owner: OURS, response: aResponse(id, { created_at: 100 + index }), inputItems: [] }, []);
  }
  await one.events.close(RUN, textEvents(3, 1), failed);
  await change(file, "update workers set expires_at = 0 where id = 1");
  const ids = async (limit: number) => (await claimUnmade(other.ledger, limit)).map(({ response }) => response.id);
  expect(await ids(2)).toEqual(["resp_b", "resp_c"]);
  expect(await ids(2)).toEqual(["resp_d"]);
  expect(await ids(2)).toEqual([]);
});

testStores("a stop asked for by one worker is seen by the one that holds the run, until it has ended", async () => {
  const { one, other } = await twoWorkers();
  await other.ledger.requestStop(RUN);
  expect(await other.ledger.listRequests()).toEqual([]);
  expect(await one.ledger.listRequests()).toEqual([{ responseId: RUN, stops: true, pauses: false, isSteered: false }]);
  await one.events.close(RUN, textEvents(3, 1), failed);
  expect(await one.ledger.listRequests()).toEqual([]);
});

testStores("a worker claims those of its own runs that it does not make, however that came about", async () => {
  const { one } = await twoWorkers();
  await one.events.open({ owner: OURS, response: aResponse("resp_2"), inputItems: [] }, textEvents(0, 2));
  await one.events.append("resp_2", textEvents(2, 1));
  expect((await one.ledger.listHeld()).toSorted()).toEqual([RUN, "resp_2"]);
  const claimed = await claimUnmade(one.ledger, 10, (id) => id === RUN);
  expect(claimed.map(({ response }) => response.id)).toEqual(["resp_2"]);
  await one.events.append("resp_2", textEvents(3, 1));
  expect(await readNumbers(one.events, "resp_2")).toEqual(numbersFrom(0, 3));
});

testStores("it is known how often a run was begun again since its latest step, whoever did it", async () => {
  const { one, other } = await twoWorkers();
  for (const steps of [0, 0, 0, 1, 1]) await one.ledger.countRestart(RUN, steps);
  await one.ledger.release(RUN, { hadBegun: false });
  expect(await claimUnmade(other.ledger, 10)).toMatchObject([{ restarts: 2, restartSteps: 1 }]);
  await other.ledger.release(RUN, { hadBegun: true });
  expect(await claimUnmade(one.ledger, 10)).toMatchObject([{ restarts: 1, restartSteps: 1 }]);
});

testStores("a run that waits for its time is claimed when it has come, or when somebody wants to stop it", async () => {
  const { file, one, other } = await twoWorkers();
  const attempts = { turn: 2, failures: 3, since: 1_800_000_000_000 };
  await one.ledger.release(RUN, { hadBegun: true, pauseMs: 3_600_000, attempts });
  expect(await claimUnmade(other.ledger, 10)).toEqual([]);
  await change(file, "update responses set due_at = due_at - 3599999");
  await expect.poll(() => claimUnmade(other.ledger, 10)).toMatchObject([{ attempts, from: "queue" }]);
  await other.ledger.release(RUN, { hadBegun: true, pauseMs: 3_600_000 });
  await one.ledger.requestStop(RUN);
  expect(await claimUnmade(one.ledger, 10)).toMatchObject([{ attempts: null }]);
});

testStores("runs are listed with what decides who claims them", async () => {
  const { file, one, other } = await twoWorkers();
  const task = (version: number) => `{"version":${version},"ids":{}}`;
  for (const [id, version] of [
    ["resp_2", 3],
    ["resp_3", 1000],
  ] as const)
    await one.events.open(
      { owner: OURS, response: aResponse(id, { background: true }), inputItems: [], task: task(version) },
      [],
    );
  for (const id of [RUN, "resp_2", "resp_3"]) await one.ledger.release(id, { hadBegun: false });
  await one.ledger.requestStop(RUN);
  await change(file, "update workers set task_version = 7 where id = 1");
  expect(await other.ledger.listUnmade(() => true)).toEqual({
    runs: [
      { responseId: RUN, from: "queue", needsPlace: false, taskVersion: null },
      { responseId: "resp_2", from: "queue", needsPlace: true, taskVersion: 3 },
      { responseId: "resp_3", from: "queue", needsPlace: true, taskVersion: 1000 },
    ],
    workers: 2,
    taskVersion: 7,
  });
});

testStores("notes are added to those of a run, unless they are too many", async () => {
  const { one } = await twoWorkers();
  const note = { kind: "waited", what: "model", why: "It's slow.", at: 1_800_000_000, node: "left" } as const;
  await one.events.addNote(RUN, note);
  await one.events.addNote(RUN, { ...note, why: "x".repeat(20_000) });
  await one.events.addNote(RUN, { ...note, why: "left out" });
  expect((await one.archive.findRecord(OURS, RUN))?.notes).toEqual([note, { ...note, why: "x".repeat(20_000) }]);
});

testStores(
  "a worker that is found dead when another one starts writes nothing more, whoever claims its runs",
  async () => {
    const { file, one, other } = await twoWorkers();
    await one.events.append(RUN, textEvents(3, 2));
    await change(file, "update workers set expires_at = 0 where id = 1");
    // Recovery has turned the journal into chunks.
    expect(await readNumbers(other.events, RUN)).toEqual(numbersFrom(0, 4));
    await expect(one.events.append(RUN, textEvents(5, 1))).rejects.toThrow(RunLost);
    expect(await claimUnmade(other.ledger, 10)).toHaveLength(1);
  },
);

test("a look for runs is as short beside 50,000 ended ones", async () => {
  const { file, one } = await twoWorkers();
  await runSql(
    file,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
     insert into responses (id, organization, project, status, model, created_at, body, version)
     select 'resp_old_' || i, 'o', 'p', 'completed', 'm', 1, ?, 1 from n`,
    "00".repeat(1_500),
  );
  const looks = {
    stops: () => one.ledger.listRequests(),
    held: () => one.ledger.listHeld(),
    claims: () => claimUnmade(one.ledger, 10),
  };
  for (const [name, look] of Object.entries(looks)) {
    const shortest = await leastOf(5, async () => {
      const startedAt = performance.now();
      await look();
      return performance.now() - startedAt;
    });
    expect(shortest, name).toBeLessThan(30);
  }
});
