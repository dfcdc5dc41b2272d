import fc from "fast-check";
import { expect, test } from "vitest";
import { type BusMessage, readMessage, type UpdateItem, writeMessage } from "./bus-message.ts";

const number = fc.integer({ min: -1, max: 1_000_000 });
const id = fc.string();
const line = fc.string({ unit: "binary" }).map((text) => JSON.stringify(text));

const item: fc.Arbitrary<UpdateItem> = fc.oneof(
  fc.record({
    type: fc.constant("events" as const),
    id,
    first: number,
    last: number,
    lines: fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n")),
  }),
  fc.record({ type: fc.constantFrom("logged" as const, "watched" as const), id, last: number }),
  fc.record({ type: fc.constant("left" as const), id }),
);

const message: fc.Arbitrary<BusMessage> = fc.oneof(
  fc.record({
    type: fc.constant("watch" as const),
    from: id,
    sentAt: number,
    runs: fc.array(fc.record({ id, after: fc.option(number) })),
  }),
  fc.record({ type: fc.constant("unwatch" as const), from: id, ids: fc.array(id) }),
  fc.record({
    type: fc.constant("news" as const),
    worker: number,
    series: id,
    number,
    echo: fc.option(number),
    items: fc.array(item),
  }),
  fc.record({ type: fc.constantFrom("stop" as const, "taken" as const), ids: fc.array(id) }),
  fc.record({ type: fc.constantFrom("work" as const, "keys" as const) }),
);

test("a message reads as it was written", () => {
  fc.assert(
    fc.property(message, (sent) => {
      expect(readMessage(writeMessage(sent))).toEqual(sent);
    }),
  );
});

test("what is no message of this version is not read", () => {
  for (const text of ["", "{", "null", "[]", '{"v":1}', '{"v":1,"type":"other"}', '{"v":2,"type":"keys"}'])
    expect(readMessage(text)).toBeNull();
});

test("a message that is cut or changed anywhere is read as a message or not at all", () => {
  fc.assert(
    fc.property(message, fc.nat(), fc.string({ maxLength: 3 }), (sent, place, text) => {
      const written = writeMessage(sent);
      const at = place % (written.length + 1);
      for (const broken of [written.slice(0, at), written.slice(0, at) + text + written.slice(at + 1)])
        expect(() => readMessage(broken)).not.toThrow();
    }),
  );
});
