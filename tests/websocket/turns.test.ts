import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { MODEL, openSocket, type TestSocket } from "./socket.ts";

const SCENARIO = `
scenarios:
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
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

describe("a turn over a WebSocket", () => {
  test("has the events of a stream, numbered from 0 for each response, and the socket stays open", async () => {
    verifies("websocket.responses.create-streams-events", "websocket.responses.socket-stays-open");
    for (const input of ["Count to 5", "Say hello"]) {
      const { frames, types, response } = await socket.create({ input });
      const numbers = frames.map((frame) => ("sequence_number" in frame ? frame.sequence_number : null));
      expect(numbers).toEqual(frames.map((_, index) => index));
      expect([types[0], types[1], types.at(-1)]).toEqual([
        "response.created",
        "response.in_progress",
        "response.completed",
      ]);
      expect(response).toMatchObject({ status: "completed", background: false, store: true });
    }
    expect(socket.frames).toEqual([]);
  });

  test("shows the stored events, except for their padding", async () => {
    const turn = await socket.create({ input: "Count to 5" });
    const stored = await server.fetch(`/v1/responses/${turn.response.id}/events?dialect=reference`);
    const events = dataLines(await stored.text());
    const padded = turn.frames.filter((frame) => frame.type === "response.output_text.delta" && "obfuscation" in frame);
    expect(padded.length).toBeGreaterThan(0);
    const shown = turn.frames.map((frame) => ({ ...frame, obfuscation: undefined }));
    expect(shown).toEqual(events.map((data) => ({ ...JSON.parse(data), obfuscation: undefined })));
  });

  test("is not padded if the client opts out", async () => {
    const { frames } = await socket.create({ stream_options: { include_obfuscation: false } });
    expect(frames.filter((frame) => "obfuscation" in frame)).toEqual([]);
  });

  test.each([{ stream: true }, { stream: false }, { stream: null }, { background: false }, { background: null }])(
    "is the same with %j",
    async (members) => {
      expect((await socket.create(members)).types.at(-1)).toBe("response.completed");
    },
  );

  test("speaks the extension dialect if its frame uses an extension, and only then", async () => {
    const tools = [{ type: "function", name: "lookup", parameters: { type: "object", properties: {} }, strict: false }];
    const called = { tools, tool_choice: { type: "function", name: "lookup" } };
    const plain = await socket.create(called);
    expect(plain.types).toContain("response.function_call_arguments.done");
    const extended = await socket.create({ ...called, stream_options: { channels: ["tool_call"] } });
    expect(extended.types).toContain("response.tool_call.done");
    expect(extended.types).not.toContain("response.function_call_arguments.done");
  });

  test("can be fetched over HTTP at once, and belongs to the same owner", async () => {
    socket.ask({ input: "slowly" });
    const created = await socket.until("response.created");
    const id = "response" in created ? created.response.id : "";
    expect(await (await server.fetch(`/v1/responses/${id}`)).json()).toMatchObject({ id, status: "in_progress" });
    await socket.turn();
    expect(await (await server.fetch(`/v1/responses/${id}`)).json()).toMatchObject({ id, status: "completed" });
  });

  test("can be cancelled over HTTP, and the next one works", async () => {
    socket.ask({ input: "slowly" });
    await socket.until("response.output_text.delta");
    const [created] = socket.frames;
    const id = created !== undefined && "response" in created ? created.response.id : "";
    expect((await server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" })).status).toBe(200);
    expect((await socket.turn()).response.status).toBe("cancelled");
    expect((await socket.create()).response.status).toBe("completed");
  });

  test("that fails ends in error and response.failed, and the next one works", async () => {
    const failed = await socket.create({ input: "dies midway" });
    expect(failed.types.slice(-2)).toEqual(["error", "response.failed"]);
    expect((await socket.create()).response.status).toBe("completed");
  });
});

describe("generate false", () => {
  test("answers nothing, has an id, and can be continued", async () => {
    verifies("websocket.responses.warm-up");
    const warm = await socket.create({ input: "My name is Ada.", generate: false, store: false });
    expect(warm.types).toEqual(["response.created", "response.in_progress", "response.completed"]);
    expect(warm.response).toMatchObject({ status: "completed", output: [], usage: { total_tokens: 0 } });
    const next = await socket.create({ input: "What is my name?", previous_response_id: warm.response.id });
    expect(next.text).toContain("Ada");
  });

  test("may have nothing but instructions and tools", async () => {
    const warm = await socket.create({ input: [], instructions: "Be brief.", generate: false });
    expect(warm.response).toMatchObject({ status: "completed", output: [], instructions: "Be brief." });
    const next = await socket.create({ input: "Say hello", previous_response_id: warm.response.id });
    expect(next.text).toMatch(/hello/i);
  });

  test("is stored like any other, and can be continued over HTTP", async () => {
    const { response } = await socket.create({ input: "My name is Ada.", generate: false });
    expect(await (await server.fetch(`/v1/responses/${response.id}`)).json()).toMatchObject({ output: [] });
    const body = { model: MODEL, input: "What is my name?", previous_response_id: response.id };
    expect(await (await server.post("/v1/responses", body)).text()).toContain("Ada");
  });

  test("is refused for everything that would be refused with an answer", async () => {
    const { refusal } = await socket.create({ model: "no-such-model", generate: false });
    expect(refusal).toMatchObject({ status: 400, error: { code: "model_not_found", param: "model" } });
    expect((await socket.create({ generate: "no" })).refusal.error).toMatchObject({
      code: "invalid_type",
      param: "generate",
    });
  });

  test("speaks nothing and compacts nothing", async () => {
    const { response } = await socket.create({
      input: "word ".repeat(3000),
      context_management: [{ type: "compaction", compact_threshold: 1000 }],
      output_audio: { format: "wav" },
      generate: false,
    });
    expect(response).toMatchObject({ status: "completed", output: [] });
  });
});
