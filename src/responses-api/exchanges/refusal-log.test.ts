import { ApiError } from "@antiphon/base/api-error.ts";
import type { RefusedRequest } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import type { Principal } from "../access/authenticate.ts";
import { RefusalLog } from "./refusal-log.ts";

const ASKER: Principal = {
  owner: { organization: "org", project: "proj" },
  keyId: "key_1",
  limits: { requests: null, tokens: null },
};

function makeLog() {
  const kept: RefusedRequest[] = [];
  const clock = { ms: 1_760_000_000_000 };
  const add = async (_owner: Principal["owner"], refused: RefusedRequest) => void kept.push(refused);
  return {
    log: new RefusalLog(
      { add },
      () => {},
      () => clock.ms,
    ),
    kept,
    clock,
  };
}

const refusal = (message = "No."): ApiError => new ApiError({ status: 400, type: "t", code: "c", message });

test("a refusal is kept without secrets, with the beginnings of its texts", () => {
  verifies("inspection.refused.kept");
  const { log, kept } = makeLog();
  const tool = { type: "mcp", authorization: "token-1234", headers: { "x-key": "other-5678", "x-short": "a" } };
  const message = { role: "user", content: [{ type: "input_text", text: `Hello\n${"x".repeat(500)}` }] };
  const request = { model: "m".repeat(500), stream: true, input: [message], tools: [tool] };
  log.note(ASKER, request, refusal(`Bad token-1234 and other-5678. ${"y".repeat(2_000)}`));
  expect(kept).toEqual([
    {
      object: "response.refused",
      created_at: 1_760_000_000,
      status: 400,
      code: "c",
      message: expect.stringMatching(/^Bad \[redacted\] and \[redacted\][.] y+$/),
      param: null,
      model: "m".repeat(200),
      kind: "streamed",
      key_id: "key_1",
      input_preview: `Hello ${"x".repeat(194)}`,
    },
  ]);
  expect(kept[0]?.message.length).toBeLessThanOrEqual(1_000);
});

test.each([
  ["a request that leaves nothing behind", { store: false }, refusal()],
  ["a fault of the server itself", {}, new Error("a bug")],
])("%s is not kept", (_, request, error) => {
  const { log, kept } = makeLog();
  log.note(ASKER, request, error);
  expect(kept).toEqual([]);
});

test.each([null, 7, "text", [], { input: [null] }, { input: [{ content: [7] }], tools: 7 }])(
  "a body of any form is kept: %j",
  (request) => {
    const { log, kept } = makeLog();
    log.note(ASKER, request, refusal());
    expect(kept).toMatchObject([{ model: "", input_preview: "", kind: "plain" }]);
  },
);

test("a client in a loop makes 100 entries in ten seconds", async () => {
  verifies("inspection.refused.kept");
  const { log, kept, clock } = makeLog();
  for (let count = 0; count < 300; count++) log.note(ASKER, {}, refusal());
  expect(kept).toHaveLength(100);
  clock.ms += 10_000;
  await Promise.resolve();
  log.note(ASKER, {}, refusal());
  expect(kept).toHaveLength(101);
});
