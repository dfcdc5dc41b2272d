import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { beginAtCompaction } from "./begin-at-compaction.ts";
import type { CompactedContext, OpenCall } from "./compacted-context.ts";

const message = (role: "user" | "assistant", text: string): StoredItem => ({
  id: `msg_${text}`,
  type: "message",
  role,
  status: "completed",
  content: [
    role === "user" ? { type: "input_text", text } : { type: "output_text", text, annotations: [], logprobs: [] },
  ],
});
const call = (id: string): OpenCall => ({
  id: `fc_${id}`,
  type: "function_call",
  status: "completed",
  call_id: id,
  name: "f",
  arguments: "{}",
});
const output = (id: string): StoredItem => ({
  id: `fco_${id}`,
  type: "function_call_output",
  status: "completed",
  call_id: id,
  output: "",
});
const compaction = (id: string): StoredItem => ({ id: `cmp_${id}`, type: "compaction", encrypted_content: id });

/** Compares the ids of the items that remain. Each compaction opens as `context`. */
function check(items: readonly StoredItem[], context: Partial<CompactedContext>, ids: readonly string[]): void {
  const open = (sealed: string): CompactedContext => ({ summary: sealed, keeps: "nothing", calls: [], ...context });
  expect(beginAtCompaction(items, open).map(({ id }) => id)).toEqual(ids);
}

test("without a compaction all items stay", () => {
  check([message("user", "a"), call("1"), output("1")], {}, ["msg_a", "fc_1", "fco_1"]);
});

test("a context begins at the latest compaction, and only that one is opened", () => {
  verifies("responses.compact.starts-at-latest");
  const items = [message("user", "a"), compaction("1"), message("user", "b"), compaction("2"), message("user", "c")];
  check(items, {}, ["summary:cmp_2", "msg_c"]);
  const opened: string[] = [];
  beginAtCompaction(items, (sealed) => {
    opened.push(sealed);
    return { summary: "", keeps: "nothing", calls: [] };
  });
  expect(opened).toEqual(["2"]);
});

test("user messages since the previous compaction stay if the compaction keeps them", () => {
  const items = [
    message("user", "a"),
    compaction("1"),
    message("user", "b"),
    message("assistant", "c"),
    compaction("2"),
    message("user", "d"),
  ];
  check(items, { keeps: "user_messages" }, ["msg_b", "summary:cmp_2", "msg_d"]);
});

test("calls whose outputs come later stay once each, whether the items or the compaction name them", () => {
  const before = [call("1"), output("1"), call("2")];
  check([...before, compaction("x"), output("2")], {}, ["summary:cmp_x", "fc_2", "fco_2"]);
  check([...before, compaction("x"), output("2")], { calls: [call("2")] }, ["summary:cmp_x", "fc_2", "fco_2"]);
  check([compaction("x"), output("2")], { calls: [call("1"), call("2")] }, ["summary:cmp_x", "fc_2", "fco_2"]);
  check([compaction("x"), call("2"), output("2")], { calls: [call("2")] }, ["summary:cmp_x", "fc_2", "fco_2"]);
});
