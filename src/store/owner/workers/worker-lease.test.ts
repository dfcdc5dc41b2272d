import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import { openStoreInThisThread, openTestStore, readNumbers, temporaryFile } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { textEvents } from "../../stores/runs/text-events.fixture.ts";
import { LEASE_MS } from "./worker-lease.ts";

const run = (id: string) => ({ owner: OURS, response: aResponse(id), inputItems: [] });

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(`pragma busy_timeout = 5000; ${sql}`);
  database.close();
}

/** Does what another worker does that finds all others dead. */
const removeWorkers = (file: string): void => change(file, "delete from event_journal; delete from workers");

test("what begins in the very commit that learns of the lost lease is stored under a new number", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file, usesRedoLog: false });
  await store.events.open(run("resp_1"), textEvents(0, 1));
  removeWorkers(file);
  await store.events.open(run("resp_2"), textEvents(0, 1));
  await store.events.append("resp_2", textEvents(1, 1));
  expect(await readNumbers(store.events, "resp_2")).toEqual([0, 1]);
});

test("a response whose key was claimed before the lease was lost is not stored", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file });
  const key = { operation: "createResponse", key: "order-1", fingerprint: "aa", isKept: true };
  const claim = await store.createKeys.claim(OURS, key);
  const claimedBy = claim.type === "first" ? claim.claimedKey.worker : null;
  removeWorkers(file);
  await expect(store.events.open({ ...run("resp_1"), claimedBy }, textEvents(0, 1))).rejects.toThrow(RunLost);
  expect(await store.createKeys.claim(OURS, key)).toMatchObject({ type: "first" });
});

test("a worker that lost its lease before it first read events reads them under a new number", async () => {
  const file = temporaryFile();
  const one = await openTestStore({ file, usesRedoLog: false });
  await one.events.open(run("resp_1"), textEvents(0, 1));
  const other = await openTestStore({ file, usesRedoLog: false });
  await other.ledger.renewLease();
  removeWorkers(file);
  await one.ledger.renewLease();
  expect(await readNumbers(other.events, "resp_1")).toEqual([0]);
});

test("a worker whose lease is lost again and again, whoever notices first, never stands still", async () => {
  const file = temporaryFile();
  const store = await openTestStore({ file });
  for (let round = 0; round < 200; round++) {
    const id = `resp_${round}`;
    const opened = store.events.open(run(id), textEvents(0, 1));
    if (round % 3 === 0) await opened;
    removeWorkers(file);
    const looks = [store.ledger.renewLease(), claimUnmade(store.ledger, 10), store.ledger.listRequests()];
    await Promise.allSettled([opened, ...looks, store.events.append(id, textEvents(1, 1))]);
  }
  await store.events.open(run("resp_last"), textEvents(0, 1));
  expect(await readNumbers(store.events, "resp_last")).toEqual([0]);
});

/** Two workers; the first has started a run. */
async function twoWorkers() {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const file = temporaryFile();
  const one = await openStoreInThisThread({ file });
  const other = await openStoreInThisThread({ file });
  await one.events.open(run("resp_1"), textEvents(0, 1));
  await other.ledger.renewLease();
  const claimed = async () => (await claimUnmade(other.ledger, 10)).map(({ response }) => response.id);
  return { file, one, other, claimed };
}

const pass = (ms: number): unknown => vi.setSystemTime(Date.now() + ms);

test("whoever wakes with others from a long sleep gives them a term to say that they live", async () => {
  verifies("state.lease.slept-processes");
  const { one, claimed } = await twoWorkers();
  pass(60 * LEASE_MS);
  expect(await claimed()).toEqual([]);
  await one.ledger.renewLease();
  pass(LEASE_MS / 2);
  expect(await claimed()).toEqual([]);
  pass(LEASE_MS - 1);
  expect(await claimed()).toEqual(["resp_1"]); // The first worker did not renew its lease.
});

test("a key of a worker taken for dead is given to another only once the worker can store nothing", async () => {
  const { one, other } = await twoWorkers();
  const key = { operation: "createResponse", key: "order-1", fingerprint: "aa", isKept: true };
  const claim = await one.createKeys.claim(OURS, key);
  const claimedBy = claim.type === "first" ? claim.claimedKey.worker : null;
  pass(LEASE_MS / 2);
  await other.ledger.renewLease();
  pass(LEASE_MS / 2 + 1);
  expect(await other.createKeys.claim(OURS, key)).toMatchObject({ type: "first" });
  await expect(one.events.open({ ...run("resp_2"), claimedBy }, textEvents(0, 1))).rejects.toThrow(RunLost);
});

test("whoever was kept from writing by a lock gives the others a term, because it kept them too", async () => {
  verifies("state.lock.leases-survive");
  const { file, other, claimed } = await twoWorkers();
  pass(LEASE_MS / 2);
  await other.ledger.renewLease();
  const holder = new DatabaseSync(file);
  holder.exec("begin immediate");
  const renewal = other.ledger.renewLease();
  pass(LEASE_MS / 2 + 1); // The first worker's lease has expired.
  await sleep(1_200);
  holder.exec("rollback");
  holder.close();
  await renewal;
  expect(await claimed()).toEqual([]);
  pass(LEASE_MS / 2);
  expect(await claimed()).toEqual([]);
  pass(LEASE_MS / 2 + 1);
  expect(await claimed()).toEqual(["resp_1"]); // The first worker still did not renew.
});

test("a clock that is set back makes no lease longer", async () => {
  verifies("state.lease.slept-processes");
  const { claimed } = await twoWorkers();
  pass(-3_600_000);
  expect(await claimed()).toEqual([]);
  pass(LEASE_MS - 1);
  expect(await claimed()).toEqual([]);
  pass(2);
  expect(await claimed()).toEqual(["resp_1"]);
});
