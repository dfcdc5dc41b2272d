import { expect, test } from "vitest";
import { CallIds } from "./call-ids.ts";

const RESULT = { jsonrpc: "2.0" as const, result: { content: [] } };
const progress = (progressToken: string | number) => ({
  jsonrpc: "2.0" as const,
  method: "notifications/progress",
  params: { progressToken, progress: 1 },
});
const cancelled = (requestId: string | number) =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "over" } });

test("messages of the server name the library's ids, and those to the server the sent ones", () => {
  const ids = new CallIds();
  ids.add("call-1", 7);
  expect(ids.readMessage({ ...RESULT, id: "call-1" })).toEqual({ ...RESULT, id: 7 });
  expect(ids.readMessage(progress("call-1"))).toEqual(progress(7));
  expect(JSON.parse(ids.writeBody(cancelled(7)))).toEqual(JSON.parse(cancelled("call-1")));
});

test("other messages pass as they are", () => {
  const ids = new CallIds();
  ids.add("call-1", 7);
  for (const message of [{ ...RESULT, id: "call-2" }, { ...RESULT, id: 7 }, progress(8)])
    expect(ids.readMessage(message)).toBe(message);
  const request = { jsonrpc: "2.0" as const, id: "call-1", method: "ping" };
  expect(ids.readMessage(request)).toBe(request);
  expect(ids.writeBody(cancelled(8))).toBe(cancelled(8));
  ids.delete("call-1");
  expect(ids.readMessage(progress("call-1"))).toEqual(progress("call-1"));
});
