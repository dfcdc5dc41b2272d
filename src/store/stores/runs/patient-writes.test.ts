import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { RunLost, StoreBusy, StoreStopped } from "../../../runs/ports/store-faults.ts";
import type { WriteOutcome } from "../../rows/runs/write-job.ts";
import { PatientWrites } from "./patient-writes.ts";

/** A store that is away for so many writes, and notes those that it carries out. */
function storeAwayFor(writes: number) {
  const written: string[] = [];
  let left = writes;
  return {
    written,
    write: (name: string, fault: Error = new StoreBusy("away")) => {
      return async (): Promise<WriteOutcome> => {
        left -= 1;
        if (left >= 0) throw fault;
        written.push(name);
        return "written";
      };
    },
  };
}

verifies("state.outages.waited-out");

test("a write is tried again until the store is back, and those behind it keep their order", async () => {
  const { write, written } = storeAwayFor(3);
  const patient = new PatientWrites(60_000);
  const writes = ["one", "two", "three"].map((name) => patient.write("resp_1", write(name)));
  expect(await Promise.all(writes)).toEqual(["written", "written", "written"]);
  expect(written).toEqual(["one", "two", "three"]);
});

test("other runs do not wait for it", async () => {
  const { write, written } = storeAwayFor(1);
  const patient = new PatientWrites(60_000);
  const waiting = patient.write("resp_1", write("one"));
  expect(await patient.write("resp_2", write("other"))).toBe("written");
  await waiting;
  expect(written).toEqual(["other", "one"]);
});

/**
 * A store that commits one write after the other and refuses events that do not follow those before. The first writes
 * fail, as each number of `failing` says.
 */
function orderedStore(failing: readonly number[], refusal: WriteOutcome = "out_of_order") {
  let commits = 0;
  let stored = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const commit = async (number: number): Promise<WriteOutcome> => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    commits += 1;
    if (failing.includes(commits)) throw new StoreBusy("away");
    if (number !== stored + 1) return refusal;
    stored = number;
    return "written";
  };
  return {
    write: (number: number) => (): Promise<WriteOutcome> => {
      const committed = turn.then(() => commit(number));
      turn = committed.catch(() => {});
      return committed;
    },
    stored: () => stored,
  };
}

test.each([[[1]], [[2]], [[1, 2]], [[1, 3]], [[1, 2, 3]], [[2, 4]], [[1, 4, 5, 6]], [[3]]])(
  "writes that were under way when the store was away for a moment are stored in their order: %j",
  async (failing) => {
    const { write, stored } = orderedStore(failing);
    const patient = new PatientWrites(60_000);
    const writes = [1, 2].map((number) => patient.write("resp_1", write(number)));
    await writes[0]?.catch(() => {}); // Others come while the second one may still be waiting.
    writes.push(...[3, 4].map((number) => patient.write("resp_1", write(number))));
    expect(await Promise.all(writes)).toEqual(["written", "written", "written", "written"]);
    expect(stored()).toBe(4);
  },
);

test("a write that is refused because of one before it, whose answer was lost, is tried again behind it", async () => {
  const { write, stored } = orderedStore([1], "unchanged");
  const patient = new PatientWrites(60_000);
  const writes = [1, 2].map((number) => patient.write("resp_1", write(number)));
  expect(await Promise.all(writes)).toEqual(["written", "written"]);
  expect(stored()).toBe(2);
});

test("events that do not follow those before are refused where nothing waits", async () => {
  const { write } = orderedStore([]);
  expect(await new PatientWrites(60_000).write("resp_1", write(2))).toBe("out_of_order");
});

test("when its time is over the run is left, with all that waits", async () => {
  const { write, written } = storeAwayFor(Number.POSITIVE_INFINITY);
  const patient = new PatientWrites(0);
  const writes = ["one", "two"].map((name) => patient.write("resp_1", write(name)));
  for (const done of writes) await expect(done).rejects.toThrow(StoreStopped);
  expect(written).toEqual([]);
});

test("any other fault is final", async () => {
  const { write } = storeAwayFor(1);
  await expect(new PatientWrites(60_000).write("resp_1", write("one", new RunLost("claimed")))).rejects.toThrow(
    "claimed",
  );
});

test("a write waits for all earlier ones, also if the one just before it is stored already", async () => {
  const patient = new PatientWrites(60_000);
  const order: string[] = [];
  let tries = 0;
  const first = patient.write("resp_1", async (): Promise<WriteOutcome> => {
    tries += 1;
    if (tries === 1) throw new StoreBusy("the database is away");
    order.push("first");
    return "written";
  });
  const second = patient.write("resp_1", async () => {
    order.push("second");
    return "written";
  });
  await second;
  const third = patient.write("resp_1", async () => {
    order.push("third");
    return order.includes("first") ? "written" : "out_of_order";
  });
  expect(await Promise.all([first, third])).toEqual(["written", "written"]);
  expect(order).toEqual(["second", "first", "third"]);
});
