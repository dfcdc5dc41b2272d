import { expect, test } from "vitest";
import { readableLine } from "./readable-line.ts";

test.each([
  [
    "a request",
    {
      level: 30,
      pid: 1,
      node: "vm",
      method: "POST",
      path: "/v1/responses",
      status: 200,
      ms: 12,
      requestId: "req_1",
      msg: "request",
    },
    "POST /v1/responses  200  12 ms",
  ],
  [
    "a request whose client left",
    { method: "GET", path: "/docs", status: 200, ms: 3, complete: false, msg: "request" },
    "GET /docs  200  3 ms  (the client left before the end)",
  ],
  [
    "an event with fields",
    { msg: "run began", model: "m", background: false, to: { a: 1 } },
    'run began  model=m background=false to={"a":1}',
  ],
  ["control characters", { msg: "said", model: "a\u001B[2Jb\nc" }, "said  model=a [2Jb c"],
])("%s is told in words", (_what, fields, line) => {
  expect(readableLine(fields)).toBe(line);
});

test("an error without a stack stands in the line", () => {
  const cause = { type: "Error", message: "connect ECONNREFUSED" };
  const err = { type: "ModelError", message: "Cannot reach the model server.", cause };
  const fields = { msg: "request", method: "POST", path: "/v1/responses", status: 502, ms: 3, reason: "unreachable" };
  expect(readableLine({ ...fields, err })).toBe(
    "POST /v1/responses  502  3 ms  reason=unreachable  Cannot reach the model server.",
  );
});

test("an error follows with its stack and its causes", () => {
  const err = { type: "Error", message: "No.", stack: "    at x", cause: { type: "TypeError", message: "Why" } };
  expect(readableLine({ msg: "failed", err })).toBe("failed\n    Error: No.\n    at x\n    TypeError: Why");
});
