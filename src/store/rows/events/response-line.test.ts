import type { Response, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ResponseLines, readResponseLine } from "./response-line.ts";

const values = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, "\u2028", "\ud83d", '["=",', -0));

/** A response with these members, whatever they are. */
function responseOf(members: Readonly<Record<string, unknown>>): Response {
  const made: Response = JSON.parse("{}");
  return Object.assign(made, members);
}

function eventOf(response: Response): ResponseStreamEvent {
  return { type: "response.created", response, sequence_number: 7 };
}

test("an event reads back byte for byte, whatever its response and the stored one have", () => {
  const responses = fc.tuple(fc.dictionary(fc.string(), values), fc.dictionary(fc.string(), values), fc.boolean());
  fc.assert(
    fc.property(responses, ([members, changes, addsNames]) => {
      const known = Object.entries(changes).filter(([name]) => addsNames || Object.hasOwn(members, name));
      const stored = responseOf(members);
      const shown = responseOf({ ...members, ...Object.fromEntries(known) });
      const line = new ResponseLines(stored).lineOf(eventOf(shown));
      if (line === null) return;
      expect(line).not.toContain("\n");
      const read = readResponseLine(line, JSON.stringify(stored));
      expect(read.number).toBe(7);
      expect(read.json).toBe(JSON.stringify(eventOf(shown)));
    }),
  );
});

test("a line holds only what differs", () => {
  const stored = responseOf({ id: "resp_1", status: "completed", output: [1], metadata: {} });
  const shown = responseOf({ ...stored, status: "in_progress", output: [] });
  expect(new ResponseLines(stored).lineOf(eventOf(shown))).toBe(
    '["=","response.created",7,{"status":"in_progress","output":[]}]',
  );
  expect(new ResponseLines(stored).lineOf(eventOf(stored))).toBe('["=","response.created",7,{}]');
});

test("other names, or another order of them, are not told by what differs", () => {
  const stored = responseOf({ id: "resp_1", status: "completed" });
  const others = [{ status: "completed", id: "resp_1" }, { id: "resp_1" }, { id: "resp_1", status: undefined }];
  for (const members of others) expect(new ResponseLines(stored).lineOf(eventOf(responseOf(members)))).toBeNull();
  const delta: ResponseStreamEvent = JSON.parse('{"type":"response.output_text.delta","sequence_number":7}');
  expect(new ResponseLines(stored).lineOf(delta)).toBeNull();
});
