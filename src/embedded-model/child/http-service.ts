import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { BodySink, ChunkSink } from "./answer/chunks.ts";
import type { Slots } from "./answer/slots.ts";
import {
  type Body,
  errorBody,
  modelList,
  readJsonBody,
  requireServedModel,
  sendError,
  sendJson,
} from "./http-answers.ts";
import type { LoadedModel } from "./loaded-model.ts";
import { readChatTurn } from "./prompt/read-chat-turn.ts";
import { RequestRefused } from "./request-refused.ts";
import { answerTurn, newCompletionId, turnTokens } from "./serve-chat.ts";

const MS_PER_SECOND = 1000;

interface Service {
  readonly runtime: LoadedModel;
  readonly slots: Slots;
}

/** The child's contract: chat completions, the list of models, the count of tokens as in vLLM, and its health. */
export function createService(service: Service): Server {
  const server = createServer((request, response) => void serveModel(service, request, response));
  server.requestTimeout = 0; // Its only client is the server that started it.
  server.keepAliveTimeout = 0;
  return server;
}

async function serveModel(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const route = `${request.method} ${request.url?.split("?")[0]}`;
    if (route === "GET /health") return sendJson(response, 200, { status: "ok", waiting: service.slots.waiting });
    if (route === "GET /v1/models")
      return sendJson(response, 200, modelList(service.runtime.names, service.runtime.window));
    if (route === "POST /tokenize")
      return sendJson(response, 200, tokenCount(service.runtime, await readJsonBody(request)));
    if (route === "POST /v1/chat/completions") return await serveChat(service, request, response);
    throw new RequestRefused(`There is no ${route}.`, { status: 404 });
  } catch (error) {
    sendError(response, error);
  }
}

/** In the form of vLLM: messages in, the number of tokens out. */
function tokenCount(runtime: LoadedModel, body: Body): object {
  requireServedModel(runtime.names, body);
  const tokens =
    typeof body["prompt"] === "string"
      ? runtime.model.tokenize(body["prompt"], false)
      : turnTokens(runtime, readChatTurn(body));
  return { count: tokens.length, max_model_len: runtime.window, tokens };
}

async function serveChat(
  { runtime, slots }: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJsonBody(request);
  requireServedModel(runtime.names, body);
  const turn = readChatTurn(body);
  const leaving = new AbortController();
  response.once("close", () => leaving.abort());
  const { signal } = leaving;
  const frame = { id: newCompletionId(), created: Math.floor(Date.now() / MS_PER_SECOND), model: runtime.names[0] };
  if (!turn.isStream) {
    const sink = new BodySink();
    const end = await answerTurn(runtime, slots, { turn, sink, signal });
    return sendJson(response, 200, sink.body(frame, end));
  }
  const sink = new ChunkSink(frame, {
    open: () => response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" }),
    write: (text) => void response.write(text),
  });
  try {
    const end = await answerTurn(runtime, slots, { turn, sink, signal });
    sink.end(end, turn.includesUsage);
    response.end();
  } catch (error) {
    if (!response.headersSent || signal.aborted) throw error;
    sink.fail(errorBody(error));
    response.end();
  }
}
