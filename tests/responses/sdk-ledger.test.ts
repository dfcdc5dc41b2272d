import { sdkLedger } from "@antiphon/contracts/responses-api/sdk-ledger.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { type Members, MODEL } from "./check-refusal.ts";

/**
 * By path: members of a create request that use what is refused, or a frame; and the parameter that the error names.
 */
const REFUSED: Readonly<Record<string, readonly [Members, string]>> = {
  "request.reasoning.generate_summary": [{ reasoning: { generate_summary: "auto" } }, "reasoning.generate_summary"],
  "request.multi_agent": [{ multi_agent: { enabled: true } }, "multi_agent"],
  "request.input[].agent": [
    { input: [{ type: "message", role: "user", content: "Hi", agent: { agent_name: "/root" } }] },
    "input[0].agent",
  ],
  "frame response.inject": [{ type: "response.inject", response_id: "resp_1", input: [] }, "type"],
};

/** By path: an item of a response.steer frame that uses what is refused, and what the error names. */
const REFUSED_STEERS: Readonly<Record<string, readonly [Members, string]>> = {
  "frame.input[] function_call_output": [
    { type: "function_call_output", call_id: "call_1", output: "4" },
    "'function_call_output'",
  ],
  "frame.input[].id": [{ role: "user", content: "Hi", id: "msg_1" }, "input[0].id"],
  "frame.input[].status": [{ role: "user", content: "Hi", status: "completed" }, "input[0].status"],
  "frame.input[].agent": [{ role: "user", content: "Hi", agent: { agent_name: "/root" } }, "input[0].agent"],
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test("each refused path of the SDK's ledger has a case here", () => {
  const refused = Object.entries(sdkLedger).flatMap(([path, { settled }]) => (settled === "refused" ? [path] : []));
  expect(Object.keys({ ...REFUSED, ...REFUSED_STEERS }).toSorted()).toEqual(refused.toSorted());
});

test.each(Object.entries(REFUSED_STEERS))(
  "what steering does not take is returned by name: %s",
  async (_, [item, param]) => {
    verifies("create.ledger.sdk-beyond-contract");
    const socket = await openSocket(server);
    const error = { code: "invalid_input", message: expect.stringContaining(param) };
    expect(await socket.steer("resp_1", [item])).toMatchObject({ type: "response.steer.failed", error });
    socket.leave();
  },
);

test.each(Object.entries(REFUSED))("what only the SDK has is refused by name: %s", async (path, [sent, param]) => {
  verifies("create.ledger.sdk-beyond-contract");
  const socket = await openSocket(server);
  if (path.startsWith("frame")) socket.send(sent);
  else socket.ask(sent);
  const { error } = (await socket.turn()).refusal;
  expect(error).toMatchObject({ type: "invalid_request_error", param });
  expect(error.message).toContain(param === "type" ? path.replace("frame ", "") : param);
  socket.leave();
  if (path.startsWith("frame")) return;
  const reply = await server.post("/v1/responses", { model: MODEL, input: "Hi", ...sent });
  expect([reply.status, await reply.json()]).toEqual([400, { error }]);
});
