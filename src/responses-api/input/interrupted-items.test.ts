import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { withoutInterrupted } from "./interrupted-items.ts";

type Status = "completed" | "incomplete";

const says = (text: string, status: Status): StoredItem => ({
  id: `msg_${text}`,
  type: "message",
  role: "assistant",
  status,
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});
const asks: StoredItem = {
  id: "msg_u",
  type: "message",
  role: "user",
  status: "completed",
  content: [{ type: "input_text", text: "And?" }],
};
const calls = (callId: string, status: Status): StoredItem => ({
  id: `fc_${callId}`,
  type: "function_call",
  name: "look",
  arguments: "{",
  call_id: callId,
  status,
});
const answers = (callId: string): StoredItem => ({
  id: `fco_${callId}`,
  type: "function_call_output",
  call_id: callId,
  output: "seen",
  status: "completed",
});
const thinks: StoredItem = { id: "rs_1", type: "reasoning", summary: [], content: [] };

const HALF = says("Hal", "incomplete");
const WHOLE = says("Half", "completed");

test.each<[string, readonly StoredItem[], readonly StoredItem[]]>([
  ["a message that was said anew is left out", [asks, HALF, WHOLE], [asks, WHOLE]],
  ["also if the model thought first", [HALF, thinks, WHOLE], [thinks, WHOLE]],
  ["also if it called a tool in place of it", [HALF, calls("a", "completed")], [calls("a", "completed")]],
  [
    "a call that was made anew is left out",
    [calls("a", "incomplete"), calls("b", "completed")],
    [calls("b", "completed")],
  ],
  ["each of several attempts is left out", [HALF, HALF, WHOLE], [WHOLE]],
  ["a message that ends an answer stays", [HALF, asks, WHOLE], [HALF, asks, WHOLE]],
  ["the last message stays", [asks, HALF], [asks, HALF]],
  ["a whole message stays", [WHOLE, says("More", "completed")], [WHOLE, says("More", "completed")]],
  [
    "a call that the client has answered stays",
    [calls("a", "incomplete"), calls("b", "completed"), answers("a"), answers("b")],
    [calls("a", "incomplete"), calls("b", "completed"), answers("a"), answers("b")],
  ],
])("%s", (_what, context, seen) => {
  verifies("state.crash.later-requests-read-whole-items");

  expect(withoutInterrupted(context)).toEqual(seen);
});

test("a context without such items is not copied", () => {
  const context = [asks, WHOLE, HALF];

  expect(withoutInterrupted(context)).toBe(context);
});
