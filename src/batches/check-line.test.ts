import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkLine } from "./check-line.ts";

const ENDPOINT = "/v1/responses";
const GOOD = { custom_id: "one", method: "POST", url: ENDPOINT, body: { model: "m", input: "Hi" } };

function check(entry: unknown, seen = new Set<string>()) {
  const text = typeof entry === "string" ? entry : JSON.stringify(entry);
  return checkLine({ line: 7, text }, ENDPOINT, seen);
}

test("a line without faults keeps its body, and names its model", () => {
  verifies("batches.input.checked");
  const line = { line: 7, customId: "one", body: '{"model":"m","input":"Hi"}' };
  expect(check(GOOD)).toEqual({ type: "line", line, model: "m" });
  expect(check({ ...GOOD, body: {} })).toMatchObject({ type: "line", model: null });
});

test.each([
  ["[1]", "invalid_json_line", null],
  ["{", "invalid_json_line", null],
  [{ ...GOOD, custom_id: "" }, "invalid_value", "custom_id"],
  [{ ...GOOD, custom_id: 1 }, "invalid_value", "custom_id"],
  [{ ...GOOD, custom_id: "x".repeat(513) }, "invalid_value", "custom_id"],
  [{ ...GOOD, custom_id: "a\0b" }, "invalid_value", "custom_id"],
  [{ ...GOOD, custom_id: "\ud800" }, "invalid_value", "custom_id"],
  [{ ...GOOD, method: "post" }, "invalid_method", "method"],
  [{ ...GOOD, url: "/v1/embeddings" }, "mismatched_url", "url"],
  [{ ...GOOD, body: [] }, "missing_required_parameter", "body"],
])("the line %j has the fault %s", (entry, code, param) => {
  verifies("batches.input.checked");
  expect(check(entry)).toMatchObject({ type: "fault", fault: { code, param, line: 7 } });
});

test("a name is used once", () => {
  verifies("batches.input.checked");
  const seen = new Set<string>();
  expect(check(GOOD, seen).type).toBe("line");
  expect(check(GOOD, seen)).toMatchObject({ fault: { code: "duplicate_custom_id" } });
});
