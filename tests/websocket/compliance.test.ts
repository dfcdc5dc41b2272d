import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL, openSocket, type TestSocket } from "./socket.ts";

let server: TestServer;
let socket: TestSocket;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());
beforeEach(async () => {
  socket = await openSocket(server);
});

const message = (text: string): object => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });

/** The WebSocket cases of the Open Responses compliance suite, under its names. */
describe("Open Responses", () => {
  verifies("contract.parity.open-responses-suite");

  test("websocket-response", async () => {
    const { types, response } = await socket.create({
      input: [message("Say hello in exactly 3 words.")],
      store: false,
    });
    expect(types.at(-1)).toBe("response.completed");
    expect(response).toMatchObject({ object: "response", status: "completed" });
    expect(response.output.length).toBeGreaterThan(0);
  });

  test("websocket-sequential-responses", async () => {
    verifies("websocket.responses.socket-stays-open");
    const ids = new Set<string>();
    for (const word of ["first", "second"]) {
      const { response } = await socket.create({ input: [message(`Say ${word}.`)], store: false });
      expect(response.status).toBe("completed");
      ids.add(response.id);
    }
    expect(ids.size).toBe(2);
  });

  test("websocket-continuation", async () => {
    verifies("websocket.responses.latest-unstored-can-continue");
    const first = await socket.create({ input: [message("Remember the code word: papaya.")], store: false });
    const next = await socket.create({
      input: [message("What did I say?")],
      store: false,
      previous_response_id: first.response.id,
    });
    expect(next.response).toMatchObject({ status: "completed", previous_response_id: first.response.id });
    expect(next.text).toContain("papaya");
  });

  test("websocket-reconnect-store-false-recovery", async () => {
    const first = await socket.create({ input: [message("Remember the code word: papaya.")], store: false });
    socket.leave();
    const again = await openSocket(server);
    const lost = await again.create({
      input: [message("What did I say?")],
      store: false,
      previous_response_id: first.response.id,
    });
    expect(lost.refusal.error.code).toBe("previous_response_not_found");
    const whole = [message("Remember the code word: papaya."), ...first.response.output, message("What did I say?")];
    const recovered = await again.create({ input: whole, store: false });
    expect(recovered.response).toMatchObject({ status: "completed", previous_response_id: null });
  });

  test("websocket-previous-response-not-found", async () => {
    const { refusal } = await socket.create({ previous_response_id: "resp_doesnotexist", store: false });
    expect(refusal).toMatchObject({
      type: "error",
      status: 400,
      error: { code: "previous_response_not_found", param: "previous_response_id" },
    });
  });

  test("websocket-failed-continuation-evicts-cache", async () => {
    verifies("websocket.responses.failed-continuation-evicts");
    const { response } = await socket.create({ input: [message("Remember: papaya.")], store: false });
    const input = [{ type: "function_call_output", call_id: "call_missing", output: "x" }];
    const failed = await socket.create({ input, store: false, previous_response_id: response.id });
    expect(failed.refusal.status).toBeGreaterThanOrEqual(400);
    const { refusal } = await socket.create({ store: false, previous_response_id: response.id });
    expect(refusal.error.code).toBe("previous_response_not_found");
  });

  test("websocket-compact-new-chain", async () => {
    const { response } = await socket.create({ input: [message("My name is Ada.")], store: false });
    const said = [message("My name is Ada."), ...response.output];
    const compacted = await server.post("/v1/responses/compact", { model: MODEL, input: said });
    expect(compacted.status).toBe(200);
    const { output } = await compacted.json();
    const fresh = await socket.create({ input: [...output, message("Say hello.")], store: false });
    expect(fresh.response).toMatchObject({ status: "completed", previous_response_id: null });
    const next = await socket.create({
      input: [message("Go on.")],
      store: false,
      previous_response_id: fresh.response.id,
    });
    expect(next.response.status).toBe("completed");
  });
});
