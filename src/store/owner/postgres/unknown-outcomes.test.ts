import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { whyNoPostgres } from "../../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../../tests/services/services-of-run.ts";
import { RunLost, StoreAway } from "../../../runs/ports/store-faults.ts";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import { AnswerDropper } from "../../database/postgres/answer-dropper.fixture.ts";
import { openStore, type StoreOptions } from "../../open-store.ts";
import { numbersFrom, readNumbers, temporaryFile } from "../../store.fixture.ts";
import { anItem, aResponse, OURS } from "../../stored-shapes.fixture.ts";
import { textEvents } from "../../stores/runs/text-events.fixture.ts";

const RUN = "resp_1";
const opening = { owner: OURS, response: aResponse(RUN), inputItems: [anItem("msg_1")], task: "{}" };
/** So that a write is given up soon. */
const IMPATIENT = { databaseTimeoutMs: 500, leaseMs: 1000 };
const ending = { response: aResponse(RUN, { status: "completed" }), outputItems: [anItem("msg_2")] };

async function openBehindDropper(options: Partial<StoreOptions> = {}) {
  const url = await databaseOfTest();
  const dropper = await AnswerDropper.to(url);
  onTestFinished(() => dropper.close());
  const store = await openStore({ file: temporaryFile(), databaseUrl: dropper.url, ...options });
  onTestFinished(() => store.close().catch(() => {}));
  return { url, dropper, store };
}

async function count(url: string, table: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: string }>(`select count(*) from ${table}`);
  await client.end();
  return Number(rows[0]?.count);
}

describe.skipIf(whyNoPostgres() !== undefined)("a commit whose answer is lost", () => {
  test.each(["drop_answers", "cut"] as const)("is stored once, if the connection comes back (%s)", async (mode) => {
    const { url, dropper, store } = await openBehindDropper();
    const spoiled = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      dropper.mode = mode;
      const done = work();
      await sleep(150); // Long enough for what goes through to be carried out.
      dropper.heal();
      return await done;
    };
    await spoiled(() => store.events.open(opening, textEvents(0, 1)));
    await spoiled(() => store.events.append(RUN, textEvents(1, 2)));
    await store.events.append(RUN, textEvents(3, 1));
    await spoiled(() => store.events.append(RUN, textEvents(4, 300)));
    await spoiled(() => store.events.close(RUN, textEvents(304, 1), ending));
    expect(await readNumbers(store.events, RUN)).toEqual(numbersFrom(0, 304));
    expect(await count(url, "items")).toBe(2);
    expect((await store.responses.findResponse(OURS, RUN))?.status).toBe("completed");
  });

  test("is found stored by a caller that comes again, also behind other commits", async () => {
    const { dropper, store } = await openBehindDropper({ databaseTimeoutMs: 500 });
    await store.events.open(opening, textEvents(0, 1));
    dropper.mode = "drop_answers";
    const appended = store.events.append(RUN, textEvents(1, 2));
    const closed = store.events.close(RUN, textEvents(3, 1), ending);
    const refused = store.events.open({ ...opening, response: aResponse("resp_2") }, textEvents(0, 1));
    await expect(refused).rejects.toThrow(StoreAway);
    dropper.heal();
    await store.events.open({ ...opening, response: aResponse("resp_3") }, textEvents(0, 1));
    await Promise.all([appended, closed]);
    expect(await readNumbers(store.events, RUN)).toEqual([0, 1, 2, 3]);
  });

  test("keeps its run from going on, once its callers were told that it failed", async () => {
    const { dropper, store } = await openBehindDropper(IMPATIENT);
    await store.events.open(opening, textEvents(0, 1));
    dropper.mode = "drop_answers";
    await expect(store.events.append(RUN, textEvents(1, 2))).rejects.toThrow(RunLost);
    dropper.heal();
    await expect(store.events.append(RUN, textEvents(1, 1))).rejects.toThrow(RunLost);
    const [claimed] = await claimUnmade(store.ledger, 10, () => false);
    expect(claimed?.response.id).toBe(RUN);
    expect(await readNumbers(store.events, RUN)).toEqual([0, 1, 2]);
    await store.events.append(RUN, textEvents(3, 1));
    await store.events.close(RUN, textEvents(4, 1), ending);
    expect(await readNumbers(store.events, RUN)).toEqual([0, 1, 2, 3, 4]);
  });

  test("was not carried out, so its run goes on where the log ends", async () => {
    const { dropper, store } = await openBehindDropper(IMPATIENT);
    await store.events.open(opening, textEvents(0, 1));
    dropper.mode = "cut";
    await expect(store.events.append(RUN, textEvents(1, 2))).rejects.toThrow(RunLost);
    dropper.heal();
    await store.events.append(RUN, textEvents(1, 1));
    expect(await readNumbers(store.events, RUN)).toEqual([0, 1]);
  });

  test("is left to whoever claims the run, if this server was taken for dead meanwhile", async () => {
    const { url, dropper, store } = await openBehindDropper();
    await store.events.open(opening, textEvents(0, 1));
    dropper.mode = "drop_answers";
    const appended = store.events.append(RUN, textEvents(1, 2));
    await sleep(150);
    dropper.mode = "cut";
    const other = await openStore({ file: temporaryFile(), databaseUrl: url });
    onTestFinished(() => other.close());
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("update workers set expires_at = 0");
    await client.end();
    expect(await claimUnmade(other.ledger, 10)).toHaveLength(1);
    dropper.heal();
    await expect(appended).rejects.toThrow(RunLost);
    expect(await readNumbers(other.events, RUN)).toEqual([0, 1, 2]);
    await store.events.open({ ...opening, response: aResponse("resp_2") }, textEvents(0, 1));
    expect(await readNumbers(store.events, "resp_2")).toEqual([0]);
  });
});
