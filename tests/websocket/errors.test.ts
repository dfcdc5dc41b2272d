import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { openSocket, type TestSocket } from "./socket.ts";

const SCENARIO = `
scenarios:
  - when: { input_contains: slowly }
    events: [{ text: Slow }, { delay_ms: 150 }, { text: " and late." }]
`;

let server: TestServer;
let socket: TestSocket;
beforeAll(async () => {
  server = await startTestServer({ scenario: SCENARIO });
});
afterAll(() => server.close());
beforeEach(async () => {
  socket = await openSocket(server);
});

const BAD_NAME =
  "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain letters, numbers, underscores, hyphens, and periods.";
const create = (members: object): object => ({
  type: "response.create",
  model: "antiphon-built-in",
  input: "Hi",
  ...members,
});

/** By title: the frame, and its error. The type is `invalid_request_error` and the status 400. */
const FRAMES: Readonly<
  Record<string, readonly [unknown, { code: string; param: string | null; message: RegExp | string }]>
> = {
  "that is not JSON": [
    "nonsense",
    { code: "invalid_json", param: null, message: /^Invalid body: failed to parse JSON/ },
  ],
  "that is empty": ["", { code: "invalid_json", param: null, message: /^Invalid body/ }],
  "that is JSON and no object": [
    "[]",
    { code: "invalid_type", param: null, message: "Invalid body: expected an object, but got an array instead." },
  ],
  "without a type": [
    {},
    { code: "missing_required_parameter", param: "type", message: "Missing required parameter: 'type'." },
  ],
  "of an unknown type": [
    { type: "response.inject", response_id: "resp_1" },
    {
      code: "invalid_value",
      param: "type",
      message:
        "Invalid value: 'response.inject'. Supported values are: 'response.create', 'response.cancel', and 'response.steer'.",
    },
  ],
  "that steers no response": [
    { type: "response.steer", input: "Rather in French." },
    {
      code: "missing_required_parameter",
      param: "previous_response_id",
      message: "Missing required parameter: 'previous_response_id'.",
    },
  ],
  "of a type that is no string": [
    { type: 7 },
    {
      code: "invalid_type",
      param: "type",
      message: "Invalid type for 'type': expected a string, but got an integer instead.",
    },
  ],
  "without a model": [
    { type: "response.create", input: "Hi" },
    { code: "missing_required_parameter", param: "model", message: "Missing required parameter: 'model'." },
  ],
  "without input": [
    { type: "response.create", model: "m" },
    { code: "missing_required_parameter", param: "input", message: "Missing required parameter: 'input'." },
  ],
  "with an empty input": [
    create({ input: "" }),
    { code: "missing_required_parameter", param: null, message: /^One of "input"/ },
  ],
  "with an unknown member": [
    create({ temperatur: 1 }),
    {
      code: "unknown_parameter",
      param: "temperatur",
      message: "Unknown parameter: 'temperatur'. Did you mean 'temperature'?",
    },
  ],
  "with the body in a member": [
    create({ response: {} }),
    { code: "unknown_parameter", param: "response", message: /^Unknown parameter: 'response'/ },
  ],
  "with a member out of its bounds": [
    create({ temperature: -1 }),
    { code: "decimal_below_min_value", param: "temperature", message: /decimal below minimum value/ },
  ],
  "with a member of a wrong type": [
    create({ stream: "yes" }),
    { code: "invalid_type", param: "stream", message: /^Invalid type for 'stream'/ },
  ],
  "in the background": [
    create({ background: true }),
    { code: "unsupported_parameter", param: "background", message: /^Unsupported parameter: 'background'\./ },
  ],
  "with a refused member": [
    create({ prompt: { id: "pmpt_x" } }),
    { code: "unsupported_parameter", param: "prompt", message: /^Unsupported parameter: 'prompt'\./ },
  ],
  "with an unknown model": [
    create({ model: "gpt-none" }),
    { code: "model_not_found", param: "model", message: "The requested model 'gpt-none' does not exist." },
  ],
  "after an unknown response": [
    create({ previous_response_id: "resp_x" }),
    {
      code: "previous_response_not_found",
      param: "previous_response_id",
      message: "Previous response with id 'resp_x' not found.",
    },
  ],
  "after an ill-formed id": [
    create({ previous_response_id: "x" }),
    { code: "invalid_value", param: "previous_response_id", message: /Expected an ID that begins with 'resp'\.$/ },
  ],
  "that answers no call": [
    create({ input: [{ type: "function_call_output", call_id: "call_x", output: "" }] }),
    { code: "invalid_request_error", param: "input", message: /^No tool call found for function call output/ },
  ],
  ...Object.fromEntries(
    Object.entries({ empty: "", spaced: "a b", long: "a".repeat(257), numeric: 7, foreign: "ä", listed: ["a"] }).map(
      ([what, stream_id]) => [
        `in a lane whose name is ${what}`,
        [create({ stream_id }), { code: "invalid_stream_id", param: "stream_id", message: BAD_NAME }],
      ],
    ),
  ),
};

describe("a frame", () => {
  test.each(Object.entries(FRAMES))(
    "%s is refused, and the socket stays open",
    async (_title, [frame, { message, ...error }]) => {
      verifies("websocket.responses.error-shape", "websocket.responses.broken-frame-keeps-socket");
      socket.send(frame);
      const words = typeof message === "string" ? message : expect.stringMatching(message);
      expect((await socket.turn()).refusal).toEqual({
        type: "error",
        status: 400,
        error: { type: "invalid_request_error", message: words, ...error },
      });
      expect((await socket.create()).response.status).toBe("completed");
    },
  );

  test("gets the same error as over HTTP", async () => {
    for (const members of [{ colour: 1 }, { tools: [{ type: "nothing" }] }, { previous_response_id: "resp_x" }]) {
      const reply = await server.post("/v1/responses", { model: "antiphon-built-in", input: "Hi", ...members });
      const { refusal } = await socket.create(members);
      expect({ error: refusal.error }).toEqual(await reply.json());
      expect(refusal.status).toBe(reply.status);
    }
  });

  test("in a lane is refused in that lane", async () => {
    expect((await socket.create({ stream_id: "a", colour: 1 })).refusal).toMatchObject({ stream_id: "a", status: 400 });
    socket.send({ type: "nothing", stream_id: "a" });
    expect((await socket.turn("a")).refusal).toMatchObject({ stream_id: "a", error: { param: "type" } });
    socket.send({ type: "nothing", stream_id: "unheard-of" });
    expect((await socket.turn("unheard-of")).refusal.error.param).toBe("type");
    expect((await socket.create({ stream_id: "a" })).response.status).toBe("completed");
  });

  test("is refused in its turn for faults that depend on state", async () => {
    verifies("websocket.responses.errors-in-turn");
    socket.ask({ input: "slowly" });
    socket.ask({ previous_response_id: "resp_x" });
    socket.ask({ model: "gpt-none" });
    socket.ask();
    expect((await socket.turn()).text).toBe("Slow and late.");
    expect((await socket.turn()).refusal.error.code).toBe("previous_response_not_found");
    expect((await socket.turn()).refusal.error.code).toBe("model_not_found");
    expect((await socket.turn()).response.status).toBe("completed");
  });
});

test("beyond a rate limit is refused with the headers that say when to retry", async () => {
  const limited = await startTestServer({ env: { RATE_LIMIT_REQUESTS_PER_MINUTE: "1" } });
  const client = await openSocket(limited);
  expect((await client.create()).response.status).toBe("completed");
  const { refusal } = await client.create();
  expect(refusal).toMatchObject({
    status: 429,
    error: {
      type: "rate_limit_error",
      code: "rate_limit_error",
      headers: {
        "retry-after": expect.stringMatching(/^\d+$/),
        "x-ratelimit-limit-requests": "1",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": expect.stringMatching(/s$/),
      },
    },
  });
});
