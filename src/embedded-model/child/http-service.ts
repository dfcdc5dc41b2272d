import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { BodySink, ChunkSink } from "./answer/chunks.ts";
import type { Slots } from "./answer/slots.ts";
import type { LoadedModel } from "./loaded-model.ts";
import { readChatTurn } from "./prompt/read-chat-turn.ts";
import { RequestRefused } from "./request-refused.ts";
import { answerTurn, newCompletionId, turnTokens } from "./serve-chat.ts";

const BODY_BYTES_MAX = 64 * 1024 * 1024;
const MS_PER_SECOND = 1000;

interface Service {
  readonly runtime: LoadedModel;
  readonly slots: Slots;
}

type Body = Readonly<Record<string, unknown>>;

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
    if (route === "GET /v1/models") return sendJson(response, 200, modelList(service.runtime));
    if (route === "POST /tokenize")
      return sendJson(response, 200, tokenCount(service.runtime, await readBody(request)));
    if (route === "POST /v1/chat/completions") return await serveChat(service, request, response);
    throw new RequestRefused(`There is no ${route}.`, { status: 404 });
  } catch (error) {
    sendError(response, error);
  }
}

function modelList({ names, window }: LoadedModel): object {
  const entry = (id: string): object => ({
    id,
    object: "model",
    created: 0,
    owned_by: "embedded",
    max_model_len: window,
  });
  return { object: "list", data: [...new Set(names)].map(entry) };
}

/** In the form of vLLM: messages in, the number of tokens out. */
function tokenCount(runtime: LoadedModel, body: Body): object {
  requireModel(runtime, body);
  const tokens =
    typeof body["prompt"] === "string"
      ? runtime.model.tokenize(body["prompt"], false)
      : turnTokens(runtime, readChatTurn(body));
  return { count: tokens.length, max_model_len: runtime.window, tokens };
}

function requireModel({ names }: LoadedModel, { model }: Body): void {
  if (model === undefined || names.some((name) => name === model)) return;
  throw new RequestRefused(
    `The model ${JSON.stringify(model)} does not exist; there are '${names[0]}' and '${names[1]}'.`,
    {
      status: 404,
      code: "model_not_found",
      param: "model",
    },
  );
}

async function serveChat(
  { runtime, slots }: Service,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  requireModel(runtime, body);
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
    sink.fail(errorOf(error));
    response.end();
  }
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    if (!(piece instanceof Buffer)) continue;
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) throw new RequestRefused("The body is too large.", { status: 413 });
    pieces.push(piece);
  }
  const body = jsonOrUndefined(Buffer.concat(pieces).toString());
  if (!isRecord(body)) throw new RequestRefused("The body is not a JSON object.");
  return body;
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const status = error instanceof RequestRefused ? error.status : 500;
  const seconds = error instanceof RequestRefused ? error.retryAfterSeconds : null;
  if (seconds !== null) response.setHeader("retry-after", String(seconds));
  if (!(error instanceof RequestRefused)) console.error(error);
  sendJson(response, status, { error: errorOf(error) });
}

function errorOf(error: unknown): object {
  if (!(error instanceof RequestRefused))
    return { message: "The embedded model failed.", type: "server_error", code: "server_error", param: null };
  const { message, param, code, more, status } = error;
  return { message, type: status === 429 ? "rate_limit_error" : "invalid_request_error", code, param, ...more };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}
