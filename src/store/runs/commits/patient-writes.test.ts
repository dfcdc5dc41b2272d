import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { RunLost, StoreBusy, StoreStopped } from "../../../runs/ports.ts";
import { PatientWrites } from "./patient-writes.ts";

/** A store that is away for so many writes, and notes those that it carries out. */
function storeAwayFor(writes: number) {
  const written: string[] = [];
  let left = writes;
  return {
    written,
    write: (name: string, fault: Error = new StoreBusy("away")) => {
      return async (): Promise<string> => {
        left -= 1;
        if (left >= 0) throw fault;
        written.push(name);
        return name;
      };
    },
  };
}

verifies("state.outages.waited-out");

test("a write is tried again until the store is back, and those behind it keep their order", async () => {
  const { write, written } = storeAwayFor(3);
  const patient = new PatientWrites(60_000);
  const writes = ["one", "two", "three"].map((name) => patient.write("resp_1", write(name)));
  expect(await Promise.all(writes)).toEqual(["one", "two", "three"]);
  expect(written).toEqual(["one", "two", "three"]);
});

test("other runs do not wait for it", async () => {
  const { write, written } = storeAwayFor(1);
  const patient = new PatientWrites(60_000);
  const waiting = patient.write("resp_1", write("one"));
  expect(await patient.write("resp_2", write("other"))).toBe("other");
  await waiting;
  expect(written).toEqual(["other", "one"]);
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
