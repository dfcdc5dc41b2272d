import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { verifies } from "../verifies.ts";
import { readStream, type StreamEvent } from "./event-stream.ts";
import { flood } from "./model-deaths.ts";
import { chunk, serveBytes } from "./model-server.ts";

const MEBIBYTE = 1024 * 1024;
/** A process that copies the arguments for each piece needs many times this. */
const HEAP_FLAGS = ["--max-old-space-size=256"];
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const PIECE = "twenty characters %d ";
const PIECES = 40_000;

test("800 kB of arguments in small pieces arrive complete in a small process", async () => {
  verifies("chat-engine.tools.large-arguments");
  const deltas = Array.from({ length: PIECES }, () => callDelta(0, PIECE));
  const answer = sse(callStart(0), callDelta(0, '{"text":"'), ...deltas, callDelta(0, '"}'), chunk("", "tool_calls"));
  const server = await serverBehind((socket) => socket.end(HEAD + answer + sse("[DONE]")));
  const events = await streamOf(server);
  expect(events.at(-1)).toMatchObject({
    type: "response.completed",
    response: { output: [{ type: "function_call", status: "completed", arguments: argumentsOf(events) }] },
  });
  expect(JSON.parse(argumentsOf(events))).toEqual({ text: PIECE.repeat(PIECES) });
  expect(await (await server.post("/v1/responses", { model: "m", input: "again", store: false })).json()).toMatchObject(
    {
      status: "completed",
    },
  );
});

test("endless interleaved calls end the response once, and the process survives", async () => {
  verifies("chat-engine.tools.large-arguments", "responses.stream.one-terminal-event-last");
  const indexes = [0, 1, 2, 3];
  const beginning = sse(...indexes.map(callStart), ...indexes.map((index) => callDelta(index, '{"text":"')));
  const pieces = sse(...indexes.map((index) => callDelta(index, PIECE))).repeat(100);
  const server = await serverBehind((socket) => void flood(socket, HEAD + beginning, pieces));
  const events = await streamOf(server);
  expect(events.at(-1)?.type).toMatch(/^response\.(failed|incomplete)$/);
  expect((await server.fetch("/healthz")).status).toBe(200);
  expect((await memoryOf(server.pid)).peakBytes).toBeLessThan(600 * MEBIBYTE);
});

async function serverBehind(answer: (socket: Socket) => void): Promise<ChildServer> {
  const model = await serveBytes(answer);
  onTestFinished(() => model.close());
  return await startChildServer({ env: { MODEL_BASE_URL: model.url }, flags: HEAP_FLAGS });
}

async function streamOf(server: ChildServer): Promise<readonly StreamEvent[]> {
  const tools = [{ type: "function", name: "write", parameters: null, strict: false }];
  return readStream(await (await server.post("/v1/responses", { model: "m", input: "x", tools, stream: true })).text());
}

/** The text of all deltas. */
function argumentsOf(events: readonly StreamEvent[]): string {
  return events
    .filter(({ type }) => type === "response.function_call_arguments.delta")
    .map((event) => String(event["delta"]))
    .join("");
}

function callStart(index: number): object {
  return callChunk({ index, id: `call_${index}`, type: "function", function: { name: "write", arguments: "" } });
}

function callDelta(index: number, text: string): object {
  return callChunk({ index, function: { arguments: text } });
}

function callChunk(call: object): object {
  return { id: "chatcmpl-1", model: "m", choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] };
}
