import fc from "fast-check";
import { expect, test } from "vitest";
import { JournalSpan, readJournal, writeJournal } from "./journal.ts";

const NONE: ReadonlySet<string> = new Set();

test("entries read back from the journal as they were written", () => {
  const entry = fc
    .record({
      responseId: fc.stringMatching(/^resp_[0-9a-f]{1,50}$/),
      firstNumber: fc.nat(),
      texts: fc.array(fc.string(), { minLength: 1, maxLength: 20 }),
    })
    .map(({ responseId, firstNumber, texts }) => ({
      responseId,
      firstNumber,
      lastNumber: firstNumber + texts.length - 1,
      body: texts.map((text) => JSON.stringify({ text })).join("\n"),
    }));
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1 }), (entries) => {
      expect(readJournal(writeJournal(entries))).toEqual(entries);
    }),
  );
});

test("journals of earlier releases, without counts of lines, can be read", () => {
  const row = 'resp_1 3 4\n{"a":1}\n{"a":2}\nresp_2 0 0\n{"a":3}';
  expect(readJournal(row)).toEqual([
    { responseId: "resp_1", firstNumber: 3, lastNumber: 4, body: '{"a":1}\n{"a":2}' },
    { responseId: "resp_2", firstNumber: 0, lastNumber: 0, body: '{"a":3}' },
  ]);
});

test("the journal is needed from where its oldest tail begins", () => {
  const span = new JournalSpan();
  expect([span.findStart(NONE), span.end]).toEqual([0, 0]);
  span.advance(100);
  expect(span.findStart(NONE)).toBe(100);
  span.beginTail("resp_1");
  span.advance(10);
  span.beginTail("resp_2");
  span.beginTail("resp_1");
  span.advance(10);
  expect([span.findStart(NONE), span.end]).toEqual([100, 120]);
  expect(span.findStart(new Set(["resp_1"]))).toBe(110);
  expect(span.findStart(new Set(["resp_1", "resp_2"]))).toBe(120);
  span.endTail("resp_1");
  span.beginTail("resp_1");
  span.endTail("resp_2");
  expect(span.findStart(NONE)).toBe(120);
});

test("tails that keep too much of the journal are overdue", () => {
  const span = new JournalSpan();
  for (const id of ["resp_1", "resp_2", "resp_3"]) {
    span.beginTail(id);
    span.advance(50);
  }
  expect([...span.findOverdue(100)]).toEqual(["resp_1"]);
  expect([...span.findOverdue(1_000)]).toEqual([]);
});
