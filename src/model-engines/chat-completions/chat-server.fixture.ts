import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { serveHttp } from "../../../tests/kit/http-server.ts";
import { type ChatCompletionsOptions, createChatCompletionsEngine } from "./engine.ts";

export { lastChunk, sse, textChunk } from "./chat-chunks.fixture.ts";

export interface ReceivedCall {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Resolves when the connection of the call is closed. Calls over one connection share it. */
  readonly closed: Promise<void>;
}

export interface ChatServer {
  readonly origin: string;
  readonly calls: readonly ReceivedCall[];
}

type Answer = (response: ServerResponse, call: ReceivedCall) => unknown;

/** Starts a model server on a real port that replies with `answer`, on loopback by default. It ends with the test. */
export async function serveChat(answer: Answer, host?: string): Promise<ChatServer> {
  const calls: ReceivedCall[] = [];
  const closings = new WeakMap<Socket, Promise<void>>();
  const { url } = await serveHttp(
    (request, response) => {
      const { socket } = request;
      const closed = closings.get(socket) ?? new Promise<void>((resolve) => socket.once("close", () => resolve()));
      closings.set(socket, closed);
      void receive(request, closed).then(
        (call) => {
          calls.push(call);
          return answer(response, call);
        },
        () => undefined, // The caller went away in the middle of its request.
      );
    },
    undefined,
    host,
  );
  return { origin: url, calls };
}

async function receive(request: IncomingMessage, closed: Promise<void>): Promise<ReceivedCall> {
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += String(piece);
  return { path: request.url ?? "", headers: request.headers, body, closed };
}

export function engineFor(
  server: { readonly origin: string },
  options: Partial<ChatCompletionsOptions> = {},
): ModelEngine {
  return createChatCompletionsEngine({
    baseUrl: `${server.origin}/v1`,
    apiKey: "sk-secret-key-of-the-operator",
    timeouts: { connectMs: 2000, idleMs: 5000, totalMs: 10_000 },
    ...options,
  });
}

export async function collect(batches: AsyncIterable<readonly ModelEvent[]>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}
