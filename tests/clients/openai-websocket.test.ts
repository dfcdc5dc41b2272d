import type { ResponsesClientEvent, ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { MODEL, startWithClient } from "./openai-client.ts";

const SCENARIO = `
scenarios:
  - when: { input_contains: slowly }
    events: [{ text: Slow }, { delay_ms: 300 }, { text: " and late." }]
  - when: { input_contains: steer me }
    events: [{ text: Slow }, { delay_ms: 3000 }, { text: " and late." }]
  - when: { input_contains: call it, has_tool_output: false }
    events:
      - reasoning_summary: ["**Calling**"]
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris }, chunks: 3 }
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

const tools: ResponsesClientEvent.ResponseCreate["tools"] = [
  {
    type: "function",
    name: "get_weather",
    strict: false,
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
];

const { client } = await startWithClient(SCENARIO);

let connection: Connection;
beforeEach(() => {
  connection = connect();
});
afterEach(() => connection.close());

describe(`openai ${installedVersion("openai")}`, () => {
  test("a response streams over a WebSocket, numbered from 0", async () => {
    verifies("websocket.responses.create-streams-events");
    const events = await connection.create({ input: "Count to 5" });
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(0)?.type).toBe("response.created");
    expect(textOf(events)).toBe("1 2 3 4 5");
    expect(events.at(-1)?.type).toBe("response.completed");
  });

  test("turns that are not stored continue on the same connection, and on no other", async () => {
    verifies("websocket.responses.latest-unstored-can-continue");
    const first = await connection.create({ input: "My name is Ada.", store: false });
    const previous_response_id = idOf(first);
    const stranger = connect();
    expect(await stranger.create({ input: "What is my name?", previous_response_id, store: false })).toEqual([
      expect.objectContaining({
        type: "error",
        error: expect.objectContaining({ code: "previous_response_not_found" }),
      }),
    ]);
    stranger.close();
    const second = await connection.create({ input: "What is my name?", previous_response_id, store: false });
    expect(textOf(second)).toContain("Ada");
  });

  test("a function call is answered by sending its output alone", async () => {
    const first = await connection.create({ input: "call it", tools, store: false });
    const second = await connection.create({
      previous_response_id: idOf(first),
      tools,
      store: false,
      input: [{ type: "function_call_output", call_id: "call_1", output: "18 degrees" }],
    });
    expect(textOf(second)).toContain("18 degrees");
  });

  test("a stored turn is continued from HTTP, and the other way round", async () => {
    const first = await client.responses.create({ model: MODEL, input: "My name is Ada." });
    const second = await connection.create({ input: "What is my name?", previous_response_id: first.id });
    expect(textOf(second)).toContain("Ada");
    const third = await client.responses.create({
      model: MODEL,
      input: "What did I say?",
      previous_response_id: idOf(second),
    });
    expect(third.output_text).toContain("What is my name?");
  });

  test("a turn sent while another runs waits for it", async () => {
    const both = await Promise.all([connection.create({ input: "slowly" }), connection.create({ input: "Say hello" })]);
    expect(both.map(textOf)).toEqual(["Slow and late.", expect.stringMatching(/hello/i)]);
  });

  test("a response is steered, and the one that follows takes the input", async () => {
    verifies("websocket.responses.steering");
    const socket = new ResponsesWS(client);
    const events: ResponsesServerEvent[] = [];
    const isOver = Promise.withResolvers<void>();
    socket.on("event", (event) => {
      events.push(event);
      if (event.type === "response.output_text.delta" && event.delta === "Slow")
        socket.send({ type: "response.steer", previous_response_id: idOf(events), input: "Say hello" });
      if (events.filter(({ type }) => type === "response.completed").length === 2) isOver.resolve();
    });
    socket.send({ type: "response.create", model: MODEL, input: "steer me", store: false });
    await isOver.promise;
    socket.close();
    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type.startsWith("response.steer"))).toEqual(["response.steer.accepted"]);
    const second = events.slice(types.lastIndexOf("response.created"));
    expect(second[0]).toMatchObject({ response: { previous_response_id: idOf(events) } });
    expect(textOf(second)).toMatch(/hello/i);
  });

  test("lanes run at the same time", async () => {
    verifies("websocket.responses.lanes-run-in-parallel");
    const lanes = connect();
    const slow = lanes.create({ input: "slowly", stream_id: "one" });
    const quick = lanes.create({ input: "Say hello", stream_id: "two" });
    const first = await Promise.race([slow, quick]);
    expect(first.every((event) => "stream_id" in event && event.stream_id === "two")).toBe(true);
    expect(textOf(await slow)).toBe("Slow and late.");
    lanes.close();
  });

  test("a turn warms up without an answer, and can be continued", async () => {
    verifies("websocket.responses.warm-up");
    const warm = await connection.create({ input: "My name is Ada.", store: false, generate: false });
    expect(warm.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed", output: [] } });
    const next = await connection.create({ input: "What is my name?", previous_response_id: idOf(warm), store: false });
    expect(textOf(next)).toContain("Ada");
  });

  test("a run that fails ends its turn, not the connection", async () => {
    const failed = await connection.create({ input: "dies midway" });
    expect(failed.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    expect(textOf(await connection.create({ input: "Say hello" }))).toMatch(/hello/i);
  });

  test("a refused turn is an error event with its HTTP status, and the connection stays usable", async () => {
    const refused = await connection.create({ model: "no-such-model", input: "Hi" });
    expect(refused).toEqual([
      expect.objectContaining({
        type: "error",
        status: 400,
        error: expect.objectContaining({ code: "model_not_found", param: "model" }),
      }),
    ]);
    expect(textOf(await connection.create({ input: "Say hello" }))).toMatch(/hello/i);
  });
});

interface Connection {
  /** Sends a turn and resolves with its events, including the last one or the error. */
  create(body: Omit<ResponsesClientEvent.ResponseCreate, "type">): Promise<readonly ResponsesServerEvent[]>;
  close(): void;
}

const LAST = new Set<unknown>(["response.completed", "response.incomplete", "response.failed"]);

/** Without a `stream_id`, answers arrive in the order of the turns. With one, it tells them apart. */
function connect(): Connection {
  const socket = new ResponsesWS(client);
  const waiting: {
    lane: string | null;
    events: ResponsesServerEvent[];
    resolve(): void;
    reject(fault: unknown): void;
  }[] = [];
  const take = (event: ResponsesServerEvent): void => {
    const lane = "stream_id" in event ? (event.stream_id ?? null) : null;
    const place = waiting.findIndex((turn) => turn.lane === lane);
    const turn = waiting[place];
    if (turn === undefined) return;
    turn.events.push(event);
    const refused = event.type === "error" && turn.events.length === 1;
    if (!refused && !LAST.has(event.type)) return;
    waiting.splice(place, 1);
    turn.resolve();
  };
  socket.on("event", take);
  socket.on("error", (error) => {
    if (error.error === undefined) for (const turn of waiting.splice(0)) turn.reject(error);
  });
  return {
    create: (body) =>
      new Promise((resolve, reject) => {
        const events: ResponsesServerEvent[] = [];
        waiting.push({ lane: body.stream_id ?? null, events, resolve: () => resolve(events), reject });
        socket.send({ type: "response.create", model: MODEL, ...body });
      }),
    close: () => socket.close(),
  };
}

function textOf(events: readonly ResponsesServerEvent[]): string {
  return events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
}

function idOf(events: readonly ResponsesServerEvent[]): string {
  const [first] = events;
  return first?.type === "response.created" ? first.response.id : "";
}
