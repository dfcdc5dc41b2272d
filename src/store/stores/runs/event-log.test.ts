import { setImmediate as endOfTick } from "node:timers/promises";
import { jsonOf } from "@antiphon/base/json/json-text.ts";
import fc from "fast-check";
import { expect } from "vitest";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import { openStore } from "../../open-store.ts";
import { CHUNK_CHARACTERS, CHUNK_EVENTS } from "../../rows/events/run-tail.ts";
import {
  allowInserts,
  numbersFrom,
  openCommittingStore,
  readAll,
  readNumbers,
  refuseInserts,
  runSql,
  storeRun,
  temporaryFile,
  testStores,
  withDatabase,
} from "../../store.fixture.ts";
import { anItem, aResponse, OURS } from "../../stored-shapes.fixture.ts";
import type { CommitReport } from "./commit-queue.ts";
import { textEvents } from "./text-events.fixture.ts";

const RUN = "resp_1";

function opening(id = RUN) {
  return { owner: OURS, response: aResponse(id), inputItems: [anItem(`msg_${id}`)] };
}

function ending(status: string, id = RUN) {
  return { response: aResponse(id, { status }), outputItems: [anItem(`out_${status}`)] };
}

/** How events are stored: the chunks of a run as `[first, last]`, and how many rows of the journal have events. */
async function layoutOf(file: string, responseId = RUN) {
  const chunks = await runSql(
    file,
    `select first_number, last_number from event_chunks join responses on number = response_number where id = ?
      order by last_number`,
    responseId,
  );
  const [journal] = await runSql(file, "select count(*) as rows from event_journal where body <> ''");
  return { chunks: chunks.map((row) => [row["first_number"], row["last_number"]]), journal: journal?.["rows"] };
}

testStores("a stored event reads back with its number, its value and its very JSON", async () => {
  const { events } = await openCommittingStore();
  const [event] = textEvents(0, 1, 'quotes " and\nlines \u2028 and 🎧');
  await events.open(opening(), event === undefined ? [] : [event]);
  const [read] = await readAll(events, RUN);
  expect(read?.number).toBe(0);
  expect(read?.json).toBe(event?.json);
  expect(read?.event).toEqual(event?.event);
  expect(jsonOf(read?.event ?? {})).toBe(event?.json);
});

testStores("reading starts after the cursor and ends at the last event", async () => {
  const { events } = await openCommittingStore();
  await events.open(opening(), textEvents(0, 2));
  await events.append(RUN, textEvents(2, 600));
  expect(await readNumbers(events, RUN)).toEqual(numbersFrom(0, 601));
  expect(await readNumbers(events, RUN, 0)).toEqual(numbersFrom(1, 601));
  expect(await readNumbers(events, RUN, 300)).toEqual(numbersFrom(301, 601));
  expect(await readNumbers(events, RUN, 601)).toEqual([]);
  expect(await readNumbers(events, RUN, 9_999)).toEqual([]);
  expect(await readNumbers(events, "resp_unknown")).toEqual([]);
});

testStores("fifty appends of each of a hundred runs in one tick are one commit", async () => {
  const commits: CommitReport[] = [];
  const { events } = await openCommittingStore({ onCommit: (commit) => commits.push(commit) });
  const ids = Array.from({ length: 100 }, (_, run) => `resp_${run}`);
  await Promise.all(ids.map((id) => events.open(opening(id), textEvents(0, 1))));
  await Promise.all(ids.flatMap((id) => numbersFrom(1, 50).map((number) => events.append(id, textEvents(number, 1)))));
  expect(commits.map((commit) => commit.jobs)).toEqual([100, 5_000]);
  expect(await readNumbers(events, "resp_99")).toEqual(numbersFrom(0, 50));
});

testStores.each([1, 100_000, 5_000_000])(
  "what follows an opening with %i characters of input may be given at once",
  async (length) => {
    const { events, responses } = await openCommittingStore();
    const input = [anItem("msg_1", "x".repeat(length)), anItem("msg_2", "y".repeat(length))];
    const opened = events.open({ ...opening(), inputItems: input }, textEvents(0, 1));
    const appended = events.append(RUN, textEvents(1, 2));
    await endOfTick();
    const later = events.append(RUN, textEvents(3, 1));
    await Promise.all([opened, appended, later]);
    await events.close(RUN, textEvents(4, 1), ending("completed"));
    expect(await readNumbers(events, RUN)).toEqual(numbersFrom(0, 4));
    expect((await responses.findResponse(OURS, RUN))?.status).toBe("completed");
  },
);

testStores("a commit that was sent behind one that fails leaves no gap in a run", async () => {
  const { events } = await openCommittingStore();
  await events.open(opening(), textEvents(0, 1));
  const failing = [events.append(RUN, textEvents(1, 1)), events.open(opening(), [])]; // Its id is taken.
  await endOfTick();
  const behind = events.append(RUN, textEvents(2, 1));
  const settled = await Promise.allSettled([...failing, behind]);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await readNumbers(events, RUN)).toEqual([0]);
  await events.append(RUN, textEvents(1, 2));
  expect(await readNumbers(events, RUN)).toEqual([0, 1, 2]);
});

testStores("more rows than one statement can hold are stored all the same", async () => {
  const { events } = await openCommittingStore();
  const ids = Array.from({ length: 9_000 }, (_, run) => `resp_${run}`);
  await Promise.all(ids.map((id) => events.open(opening(id), [])));
  await Promise.all(ids.map((id) => events.append(id, textEvents(0, 1))));
  expect(await readNumbers(events, "resp_8999")).toEqual([0]);
});

testStores(
  "events but the first lie in the journal until they fill a chunk, and an ended run leaves chunks only",
  async () => {
    const file = temporaryFile();
    const { events } = await openCommittingStore({ file, commitIntervalMs: 0 });
    await events.open(opening(), textEvents(0, 1));
    await events.append(RUN, textEvents(1, 2));
    expect(await layoutOf(file)).toEqual({ chunks: [[0, 0]], journal: 1 });
    await events.append(RUN, textEvents(3, CHUNK_EVENTS));
    const full = [
      [0, 0],
      [1, 258],
    ];
    expect(await layoutOf(file)).toEqual({ chunks: full, journal: 0 });
    await events.append(RUN, textEvents(259, 1, "x".repeat(CHUNK_CHARACTERS)));
    expect(await layoutOf(file)).toEqual({ chunks: [...full, [259, 259]], journal: 0 });
    await events.append(RUN, textEvents(260, 1));
    await events.close(RUN, textEvents(261, 1), ending("completed"));
    expect(await layoutOf(file)).toEqual({
      chunks: [...full, [259, 259], [260, 261]],
      journal: 0,
    });
  },
);

testStores.each([32, 40])(
  "the journal of one endless run that appends %i events at a time stays short",
  async (count) => {
    const file = temporaryFile();
    const { events } = await openCommittingStore({ file, commitIntervalMs: 0 });
    await events.open(opening(), []);
    for (let round = 0; round < 2_000; round++) await events.append(RUN, textEvents(round * count, count));
    expect((await layoutOf(file)).journal).toBeLessThan(1_000);
    expect((await readNumbers(events, RUN)).length).toBe(2_000 * count);
  },
);

testStores("a quiet run does not keep the journal from being cut", async () => {
  const file = temporaryFile();
  const { events } = await openCommittingStore({ file, commitIntervalMs: 0 });
  await events.open(opening("resp_quiet"), textEvents(0, 1));
  await events.open(opening(), []);
  const count = 40;
  const rounds = 800;
  for (let round = 0; round < rounds; round++) await events.append(RUN, textEvents(round * count, count));
  expect((await layoutOf(file, "resp_quiet")).chunks).toEqual([[0, 0]]);
  expect((await layoutOf(file)).journal).toBeLessThan(rounds / 4);
  expect(await readNumbers(events, "resp_quiet")).toEqual([0]);
  await events.append("resp_quiet", textEvents(1, 1));
  expect(await readNumbers(events, "resp_quiet")).toEqual([0, 1]);
});

testStores("a reader has every event exactly once, whatever the appends were and wherever it starts", async () => {
  const { events } = await openCommittingStore({ commitIntervalMs: 0 });
  let runs = 0;
  const sizes = fc.array(fc.oneof({ weight: 5, arbitrary: fc.nat(30) }, fc.nat(600)), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(), fc.boolean(), async (counts, start, ended) => {
      const id = `resp_any_${runs++}`;
      await events.open(opening(id), []);
      let next = 0;
      for (const count of counts) {
        await events.append(id, textEvents(next, count));
        next += count;
      }
      if (ended) await events.close(id, textEvents(next++, 1), ending("completed", id));
      const after = (start % (next + 2)) - 1;
      expect(await readNumbers(events, id, after)).toEqual(numbersFrom(after + 1, next - 1));
    }),
    { numRuns: 60 },
  );
});

testStores("readers that read while rows become chunks see no gap and nothing twice", async () => {
  const { events } = await openCommittingStore({ commitIntervalMs: 0 });
  await events.open(opening(), []);
  const total = 3_000;
  let durable = 0;

  const readWhileLive = async (): Promise<void> => {
    while (durable < total) {
      const promised = durable;
      let last = -1;
      for await (const batch of events.read(RUN, -1)) {
        for (const event of batch) expect(event.number).toBe(++last);
        await endOfTick();
      }
      expect(last + 1).toBeGreaterThanOrEqual(promised);
      await endOfTick();
    }
  };
  const readers = Promise.all([readWhileLive(), readWhileLive()]);
  for (let next = 0; next < total; next += 7) {
    const count = Math.min(7, total - next);
    await events.append(RUN, textEvents(next, count));
    durable = next + count;
  }
  await readers;
});

testStores("the first end wins: a second one changes nothing", async () => {
  const { events, responses } = await openCommittingStore();
  await events.open(opening(), textEvents(0, 1));
  await events.close(RUN, textEvents(1, 1), ending("cancelled"));
  await expect(events.close(RUN, textEvents(2, 1), ending("completed"))).rejects.toThrow(RunLost);
  expect((await responses.findResponse(OURS, RUN))?.status).toBe("cancelled");
  expect(await readNumbers(events, RUN)).toEqual([0, 1]);
  expect([...(await responses.findItems(OURS, ["out_cancelled", "out_completed"])).keys()]).toEqual(["out_cancelled"]);
});

testStores("of two ends in one tick the first wins", async () => {
  const { events, responses } = await openCommittingStore();
  await events.open(opening(), []);
  const ends = await Promise.allSettled([
    events.close(RUN, textEvents(0, 1), ending("failed")),
    events.close(RUN, textEvents(1, 1), ending("completed")),
  ]);
  expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected"]);
  expect((await responses.findResponse(OURS, RUN))?.status).toBe("failed");
  expect(await readNumbers(events, RUN)).toEqual([0]);
});

testStores("a run may begin and end within one tick", async () => {
  const { events, responses } = await openCommittingStore();
  await Promise.all([
    events.open(opening(), textEvents(0, 1)),
    events.append(RUN, textEvents(1, 5)),
    events.close(RUN, textEvents(6, 1), ending("completed")),
  ]);
  expect((await responses.findResponse(OURS, RUN))?.status).toBe("completed");
  expect(await readNumbers(events, RUN)).toEqual(numbersFrom(0, 6));
});

testStores("events that do not follow the stored ones are refused, and only they", async () => {
  const { events } = await openCommittingStore();
  await Promise.all([events.open(opening(), textEvents(0, 1)), events.open(opening("resp_2"), [])]);
  const settled = await Promise.allSettled([
    events.append(RUN, textEvents(2, 1)),
    events.append(RUN, textEvents(0, 1)),
    events.append(RUN, textEvents(1, 1)),
    events.append("resp_2", textEvents(0, 1)),
  ]);
  expect(settled.map((result) => result.status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
  expect(await readNumbers(events, RUN)).toEqual([0, 1]);
});

testStores("what a run stores after its response was deleted is dropped", async () => {
  const file = temporaryFile();
  const { events, responses } = await openCommittingStore({ file });
  await events.open(opening(), textEvents(0, 3));
  await Promise.allSettled([
    events.append(RUN, textEvents(3, 1)),
    responses.deleteResponse(OURS, RUN),
    events.append(RUN, textEvents(4, 1)),
  ]);
  await expect(events.append(RUN, textEvents(5, 1))).rejects.toThrow(RunLost);
  await expect(events.close(RUN, textEvents(6, 1), ending("completed"))).rejects.toThrow(RunLost);
  expect(await responses.findResponse(OURS, RUN)).toBeNull();
  expect(await layoutOf(file)).toEqual({ chunks: [], journal: 0 });
  expect((await responses.findItems(OURS, ["msg_resp_1", "out_completed"])).size).toBe(0);
});

testStores("a reader whose response is deleted meanwhile just ends", async () => {
  const { events, responses } = await openCommittingStore({ commitIntervalMs: 0 });
  await storeRun(events, RUN, { eventCount: 256 * 40 });
  let read = 0;
  for await (const batch of events.read(RUN, -1)) {
    read += batch.length;
    if (read === 256) await responses.deleteResponse(OURS, RUN);
  }
  expect(read).toBeGreaterThanOrEqual(256);
  expect(read).toBeLessThan(256 * 40);
});

testStores("a commit that fails rejects its callers, stores nothing of it and leaves the log usable", async () => {
  const file = temporaryFile();
  const { events } = await openCommittingStore({ file });
  await events.open(opening(), textEvents(0, 200));
  for (const table of ["event_chunks", "event_journal"]) await refuseInserts(file, table);
  await expect(events.append(RUN, textEvents(200, 1))).rejects.toThrow("refused");
  const both = await Promise.allSettled([events.open(opening("resp_2"), []), events.append(RUN, textEvents(200, 100))]);
  expect(both.map((result) => result.status)).toEqual(["rejected", "rejected"]);
  for (const table of ["event_chunks", "event_journal"]) await allowInserts(file, table);
  await Promise.all([events.open(opening("resp_2"), []), events.append(RUN, textEvents(200, 100))]);
  expect(await readNumbers(events, RUN)).toEqual(numbersFrom(0, 299));
});

testStores("a response id can be opened once only", async () => {
  const { events } = await openCommittingStore();
  await events.open(opening(), textEvents(0, 1));
  await expect(events.open(opening(), [])).rejects.toThrow(/unique/i);
  await events.append(RUN, textEvents(1, 1));
  expect(await readNumbers(events, RUN)).toEqual([0, 1]);
});

testStores("a run goes on after a restart where its events ended", async () => {
  const file = temporaryFile();
  const first = await openStore(await withDatabase({ file, commitIntervalMs: 0 }));
  await first.events.open(opening(), textEvents(0, 280));
  await first.events.open(opening("resp_2"), textEvents(0, 3));
  await first.events.append(RUN, textEvents(280, 10));
  await first.events.close("resp_2", [], ending("completed", "resp_2"));
  await first.close();

  const { events, responses, ledger } = await openCommittingStore({ file, commitIntervalMs: 0 });
  expect((await claimUnmade(ledger, 10)).map(({ response }) => response.id)).toEqual([RUN]);
  await expect(events.append(RUN, textEvents(9, 1))).rejects.toThrow("in order");
  await events.append(RUN, textEvents(290, 1));
  await events.close(RUN, textEvents(291, 1), ending("failed"));
  expect(await layoutOf(file)).toEqual({
    chunks: [
      [0, 255],
      [256, 279],
      [280, 289],
      [290, 291],
    ],
    journal: 0,
  });
  expect(await readNumbers(events, RUN)).toEqual(numbersFrom(0, 291));
  expect(await readNumbers(events, "resp_2")).toEqual([0, 1, 2]);
  expect((await responses.findResponse(OURS, RUN))?.status).toBe("failed");
  expect([...(await responses.findItems(OURS, ["out_failed"])).keys()]).toEqual(["out_failed"]);
});
