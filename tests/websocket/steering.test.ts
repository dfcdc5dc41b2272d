import type { ServerResponse } from "node:http";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { sendJson } from "../kit/http-answers.ts";
import { type Answer, serveBehind, toolDelta } from "../responses/behind-upstream.ts";
import { plainTool, startScripted, toolList } from "../tools/mcp/mcp-servers.ts";
import { verifies } from "../verifies.ts";
import { openSocket, type TestSocket } from "./socket.ts";

const ASK = { model: "m", input: "Tell me of the sea", temperature: 0.5 };

/** A server whose model begins each answer with a word and ends it when the test says so. */
async function serveSlowly() {
  const open: ServerResponse[] = [];
  const answer: Answer = (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    open.push(response);
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.write(sse(textChunk("The sea")));
  };
  const behind = await serveBehind(answer);
  const finish = (): void => void open.shift()?.end(sse(textChunk(" is wide."), lastChunk("stop"), "[DONE]"));
  return { ...behind, finish, socket: await openSocket(behind.server) };
}

/** The id of the lane's response, once it has output. */
async function speaking(socket: TestSocket, lane?: string): Promise<string> {
  const created = await socket.until("response.created", lane);
  await socket.until("response.output_text.delta", lane);
  return "response" in created ? created.response.id : "";
}

/** The messages of the model server's latest call, as role and content. */
function messages(asked: unknown): readonly (readonly [role: unknown, content: unknown])[] {
  const list: unknown = isRecord(asked) ? asked["messages"] : null;
  if (!Array.isArray(list)) throw new Error(`no messages: ${JSON.stringify(asked)}`);
  return list.map((message: { readonly role: unknown; readonly content: unknown }) => [message.role, message.content]);
}

test.each([true, false])(
  "input that is added to a response is taken by the one that follows with its settings (stored: %s)",
  async (store) => {
    verifies("websocket.responses.steering");
    const { socket, finish, asked } = await serveSlowly();
    socket.ask({ ...ASK, store, instructions: "Be short." });
    const id = await speaking(socket);
    const accepted = await socket.steer(id, "Rather in French.");
    expect(accepted).toMatchObject({
      type: "response.steer.accepted",
      steer: { id: expect.stringMatching(/^steer_/), previous_response_id: id },
    });
    await socket.steer(id, [{ role: "user", content: [{ type: "input_text", text: "And in verse." }] }]);
    finish();
    expect((await socket.turn()).response).toMatchObject({ id, status: "completed" });
    await speaking(socket);
    finish();
    const { response, frames } = await socket.turn();
    expect(response).toMatchObject({ status: "completed", previous_response_id: id, temperature: 0.5, store });
    expect(frames[0]).toMatchObject({ type: "response.created", sequence_number: 0 });
    expect(messages(asked())).toEqual([
      ["system", "Be short."],
      ["user", ASK.input],
      ["assistant", "The sea is wide."],
      ["user", "Rather in French."],
      ["user", "And in verse."],
    ]);
    expect(asked()).toMatchObject({ temperature: 0.5 });
    // Nothing is left that would make another response.
    expect((await socket.steer(response.id, "More")).type).toBe("response.steer.failed");
    expect(socket.allTypes.filter((type) => type === "response.created")).toHaveLength(2);
  },
);

test("events of steering have the number of the latest event, and a replay has no gap", async () => {
  verifies("websocket.responses.steering");
  const { socket, finish, server } = await serveSlowly();
  socket.ask({ ...ASK, stream_id: "a" });
  const id = await speaking(socket, "a");
  const { sequence_number: number, stream_id: lane } = await socket.steer(id, "Rather in French.");
  expect([number, lane]).toEqual([4, "a"]);
  finish();
  await socket.turn("a");
  await speaking(socket, "a");
  finish();
  await socket.turn("a");
  const replay = await (await server.fetch(`/v1/responses/${id}?stream=true`)).text();
  const numbers = [...replay.matchAll(/"sequence_number":(\d+)/g)].map(([, digits]) => Number(digits));
  expect(numbers).toEqual(numbers.map((_, index) => index));
});

test("a response that would ask its model again ends as steered", async () => {
  verifies("websocket.responses.steering-ends-turns");
  const call = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { url } = await startScripted({
    "tools/list": () => toolList([plainTool("read", { annotations: { readOnlyHint: true } })]),
    "tools/call": ({ id }, response) => {
      begun.resolve();
      const result = { content: [{ type: "text", text: "A book of herons." }] };
      void call.promise.then(() => sendJson(response, { jsonrpc: "2.0", id, result }));
    },
  });
  let turns = 0;
  const answer: Answer = (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    const isFirst = (turns += 1) === 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const said = isFirst
      ? [toolDelta(0, { id: "call_0", type: "function", function: { name: "books__read", arguments: "{}" } })]
      : [textChunk("Herons.")];
    return response.end(sse(...said, lastChunk(isFirst ? "tool_calls" : "stop"), "[DONE]"));
  };
  const { server, asked } = await serveBehind(answer, { EGRESS_ALLOW: "127.0.0.1" });
  const socket = await openSocket(server);
  const tools = [{ type: "mcp", server_label: "books", server_url: url, require_approval: "never" }];
  socket.ask({ ...ASK, tools });
  const created = await socket.until("response.created");
  const id = "response" in created ? created.response.id : "";
  await begun.promise;
  await socket.steer(id, "Only their names.");
  call.resolve();
  const steered = await socket.turn();
  expect(steered.types.at(-1)).toBe("response.incomplete");
  expect(steered.response).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "steered" },
    output: [{ type: "mcp_list_tools" }, { type: "mcp_call", output: "A book of herons.", status: "completed" }],
  });
  const { response, text } = await socket.turn();
  expect([response.previous_response_id, text, turns]).toEqual([id, "Herons.", 2]);
  expect(messages(asked()).slice(-2)).toEqual([
    ["tool", expect.stringContaining("A book of herons.")],
    ["user", "Only their names."],
  ]);
  const kept = await server.fetch(`/v1/responses/${id}`);
  expect(await kept.json()).toMatchObject({ status: "incomplete", incomplete_details: { reason: "steered" } });
});

test("input waits for what the client owes, and goes before the input of the create that brings it", async () => {
  verifies("websocket.responses.steering-waits-for-client");
  const held: ServerResponse[] = [];
  const answer: Answer = (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (held.length > 0) return response.end(sse(textChunk("Sunny."), lastChunk("stop"), "[DONE]"));
    held.push(response);
    return response.write(sse(textChunk("Let me look.")));
  };
  const { server, asked } = await serveBehind(answer);
  const socket = await openSocket(server);
  const tools = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} }, strict: false }];
  socket.ask({ ...ASK, tools });
  const id = await speaking(socket);
  await socket.steer(id, "In Celsius.");
  const weather = toolDelta(0, { id: "call_w", type: "function", function: { name: "weather", arguments: "{}" } });
  held[0]?.end(sse(weather, lastChunk("tool_calls"), "[DONE]"));
  const { response } = await socket.turn();
  expect(response.status).toBe("completed");
  expect(await socket.steering(1)).toMatchObject({
    type: "response.steer.pending",
    reason: "waiting_for_required_input",
    required_input: [{ type: "function_call_output", call_id: "call_w", name: "weather" }],
    steer: { previous_response_id: id },
  });
  expect(socket.allTypes.slice(-2)).toEqual(["response.completed", "response.steer.pending"]);
  const output = { type: "function_call_output", call_id: "call_w", output: "22" };
  const next = await socket.create({ ...ASK, input: [output], previous_response_id: id, temperature: 1 });
  expect([next.text, next.response.temperature]).toEqual(["Sunny.", 1]);
  expect(messages(asked()).slice(-2)).toEqual([
    ["tool", "22"],
    ["user", "In Celsius."],
  ]);
  // It was taken once.
  await socket.create({ ...ASK, previous_response_id: id, input: [output] });
  expect(messages(asked()).filter(([, text]) => text === "In Celsius.")).toEqual([]);
});

test("input that cannot be taken is returned with the reason", async () => {
  verifies("websocket.responses.steering-returned");
  const { socket, finish, server } = await serveSlowly();
  const refused = async (id: string, input: unknown): Promise<unknown> => {
    const event = await socket.steer(id, input);
    if (event.type !== "response.steer.failed") return event;
    expect(event.steer).toEqual({ previous_response_id: id, input });
    return event.error;
  };
  expect(await refused("resp_unknown", "Hello")).toMatchObject({
    type: "invalid_request_error",
    code: "response_not_found",
  });
  socket.ask(ASK);
  const id = await speaking(socket);
  for (const input of [[], 7, [{ role: "system", content: "Obey" }], [{ type: "function_call_output", call_id: "c" }]])
    expect(await refused(id, input)).toMatchObject({ code: "invalid_input" });
  socket.send({ type: "response.steer", previous_response_id: id, input: "Hello", stream_id: "a" });
  expect(await socket.steering(5)).toMatchObject({ error: { code: "invalid_input", message: /stream_id/ } });
  socket.send({ type: "response.steer", input: "Hello" });
  expect(await socket.until("error")).toMatchObject({ error: { param: "previous_response_id" } });
  socket.frames.splice(
    socket.frames.findIndex(({ type }) => type === "error"),
    1,
  );
  finish();
  await socket.turn();
  expect(await refused(id, "Hello")).toMatchObject({ code: "response_already_completed" });
  const conversation = await (await server.post("/v1/conversations", {})).json();
  const kept = isRecord(conversation) ? { conversation: conversation["id"] } : {};
  for (const members of [kept, { context_management: [{ type: "compaction" }] }]) {
    socket.ask({ ...ASK, ...members });
    expect(await refused(await speaking(socket), "Hello")).toMatchObject({ code: "steering_not_supported" });
    finish();
    await socket.turn();
  }
});

test("accepted input comes back if its response is cancelled, or if the one that follows is refused", async () => {
  verifies("websocket.responses.steering-returned");
  const { socket, finish } = await serveSlowly();
  socket.ask(ASK);
  const cancelled = await speaking(socket);
  const accepted = await socket.steer(cancelled, "Hello");
  socket.send({ type: "response.cancel", response_id: cancelled });
  await socket.turn();
  expect(await socket.steering(1)).toMatchObject({
    type: "response.steer.failed",
    error: { code: "response_not_active" },
    steer: { ...accepted.steer, input: "Hello" },
  });
  finish();
  socket.ask({ ...ASK, stream_id: "b" });
  const id = await speaking(socket, "b");
  const input = [{ role: "user", content: [{ type: "input_file", file_id: "file-unknown" }] }];
  const { steer } = await socket.steer(id, input);
  finish();
  await socket.turn("b");
  expect(await socket.steering(3)).toMatchObject({
    type: "response.steer.failed",
    stream_id: "b",
    error: { code: "successor_creation_failed", message: /file-unknown/ },
    steer: { ...steer, input },
  });
  expect(socket.allTypes).not.toContain("error");
});

test("at most 16 inputs wait for a response", async () => {
  verifies("websocket.responses.steering-returned");
  const { socket } = await serveSlowly();
  socket.ask(ASK);
  const id = await speaking(socket);
  const events = [];
  for (let number = 0; number < 17; number++) events.push(await socket.steer(id, `${number}`));
  expect(events.map(({ type }) => type).slice(0, 16)).toEqual(
    Array.from({ length: 16 }, () => "response.steer.accepted"),
  );
  expect(events.at(-1)).toMatchObject({ error: { code: "too_many_pending_steers" }, steer: { input: "16" } });
});
