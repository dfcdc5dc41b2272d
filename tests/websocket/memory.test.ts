import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL, openSocket, type TestSocket } from "./socket.ts";

const OURS = "sk-ours-0123456789abcdef";
const THEIRS = "sk-theirs-0123456789abcdef";
const SCENARIO = `
scenarios:
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
  - when: { input_contains: refuse me }
    events: [{ refuse_turn: { status: 503, type: server_error, code: server_error, message: No. } }]
`;
const ASK = { input: "What is my name?", store: false };

let server: TestServer;
let socket: TestSocket;
beforeAll(async () => {
  const env = { API_KEYS: `${OURS}=acme/ours,${THEIRS}=acme/theirs` };
  server = await startTestServer({ env, scenario: SCENARIO });
});
afterAll(() => server.close());
beforeEach(async () => {
  socket = await openSocket(server);
});

/** A response that is not stored, and that contains a name. */
async function named(name: string, lane?: string): Promise<string> {
  const members = { input: `My name is ${name}.`, store: false, ...(lane === undefined ? {} : { stream_id: lane }) };
  return (await socket.create(members)).response.id;
}

function notFound(id: string): object {
  return {
    type: "error",
    status: 400,
    error: {
      type: "invalid_request_error",
      code: "previous_response_not_found",
      param: "previous_response_id",
      message: `Previous response with id '${id}' not found.`,
    },
  };
}

describe("a response that is not stored", () => {
  test("can be continued on its connection, turn after turn", async () => {
    verifies("websocket.responses.latest-unstored-can-continue");
    let id = await named("Ada");
    for (const input of ["Say hello", "Count to 3", "Say hello again"]) {
      id = (await socket.create({ input, store: false, previous_response_id: id })).response.id;
    }
    const last = await socket.create({ ...ASK, previous_response_id: id });
    expect(last.text).toContain("Ada");
    expect(last.response.previous_response_id).toBe(id);
  });

  test("is unknown to every other connection, to HTTP, and after a reconnect", async () => {
    const id = await named("Ada");
    const other = await openSocket(server);
    expect((await other.create({ ...ASK, previous_response_id: id })).refusal).toEqual(notFound(id));
    const reply = await server.post("/v1/responses", { ...ASK, model: MODEL, previous_response_id: id });
    expect(await reply.json()).toMatchObject({ error: { code: "previous_response_not_found" } });
    expect((await server.fetch(`/v1/responses/${id}`)).status).toBe(404);
    expect((await socket.create({ ...ASK, previous_response_id: id })).text).toContain("Ada");
    socket.leave();
    const again = await openSocket(server);
    expect((await again.create({ ...ASK, previous_response_id: id })).refusal).toEqual(notFound(id));
  });

  test("can be continued only while it is the latest of its lane", async () => {
    const first = await named("Ada");
    await socket.create({ store: false });
    expect((await socket.create({ ...ASK, previous_response_id: first })).refusal).toEqual(notFound(first));
    const kept = await named("Eve", "one");
    await socket.create({ store: false, stream_id: "two" });
    expect((await socket.create({ ...ASK, stream_id: "one", previous_response_id: kept })).text).toContain("Eve");
  });

  test("can continue a stored one", async () => {
    const stored = await socket.create({ input: "My name is Ada." });
    const second = await socket.create({ store: false, previous_response_id: stored.response.id });
    const third = await socket.create({ ...ASK, previous_response_id: second.response.id });
    expect(third.text).toContain("Ada");
  });

  test("can be continued by a stored one, and that one only on this connection", async () => {
    const id = await named("Ada");
    const stored = (await socket.create({ previous_response_id: id })).response.id;
    expect((await server.fetch(`/v1/responses/${stored}`)).status).toBe(200);
    const elsewhere = await server.post("/v1/responses", { ...ASK, model: MODEL, previous_response_id: stored });
    expect(await elsewhere.json()).toMatchObject(notFoundBody(stored));
    expect((await socket.create({ ...ASK, previous_response_id: stored })).text).toContain("Ada");
  });

  test("keeps its tool calls, and accepts their outputs", async () => {
    const tools = [{ type: "function", name: "lookup", parameters: { type: "object", properties: {} }, strict: false }];
    const choice = { type: "function", name: "lookup" };
    const { response } = await socket.create({ tools, tool_choice: choice, store: false });
    const call = response.output.find((item) => item.type === "function_call");
    const output = { type: "function_call_output", call_id: call?.call_id, output: "18 degrees" };
    const next = await socket.create({ input: [output], tools, store: false, previous_response_id: response.id });
    expect(next.text).toContain("18 degrees");
  });
});

describe("a continuation that fails", () => {
  test.each([
    ["for its form", { input: "Hi", colour: "red" }],
    ["for its sense", { input: [{ type: "function_call_output", call_id: "call_none", output: "x" }] }],
    ["for its model", { model: "no-such-model", input: "Hi" }],
    ["because the model refuses", { input: "refuse me" }],
    ["midway", { input: "dies midway" }],
  ])("%s takes what it continues out of the memory", async (_why, members) => {
    verifies("websocket.responses.failed-continuation-evicts");
    const id = await named("Ada");
    const failed = await socket.create({ store: false, previous_response_id: id, ...members });
    expect(failed.types).toContain("error");
    expect((await socket.create({ ...ASK, previous_response_id: id })).refusal).toEqual(notFound(id));
    expect((await socket.create()).response.status).toBe("completed");
  });

  test("does not affect a stored response", async () => {
    const { response } = await socket.create({ input: "My name is Ada." });
    expect((await socket.create({ input: "refuse me", previous_response_id: response.id })).types).toEqual(["error"]);
    expect((await socket.create({ ...ASK, previous_response_id: response.id })).text).toContain("Ada");
  });

  test("does not affect the responses of other lanes", async () => {
    const [first, second] = [await named("Ada", "one"), await named("Eve", "two")];
    await socket.create({ input: "refuse me", stream_id: "one", previous_response_id: first });
    expect((await socket.create({ ...ASK, stream_id: "two", previous_response_id: second })).text).toContain("Eve");
  });
});

test("another owner's response is as unknown as one that does not exist", async () => {
  verifies("websocket.responses.needs-the-key");
  const { response } = await socket.create({ input: "My name is Ada." });
  const theirs = await openSocket(server, { apiKey: THEIRS });
  const refused = await theirs.create({ ...ASK, previous_response_id: response.id });
  const unknown = await theirs.create({ ...ASK, previous_response_id: "resp_none" });
  expect(refused.refusal).toEqual(notFound(response.id));
  expect(unknown.refusal).toEqual(notFound("resp_none"));
});

function notFoundBody(id: string): object {
  return { error: { code: "previous_response_not_found", message: `Previous response with id '${id}' not found.` } };
}
