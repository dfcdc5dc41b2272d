import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Body, modelList, readJsonBody, requireServedModel, sendError, sendJson } from "../http-answers.ts";
import { RequestRefused } from "../request-refused.ts";
import type { LoadedEncoder } from "./load-vector-model.ts";
import { TextQueue } from "./text-queue.ts";

const TEXTS_MAX = 2048;
/** The tokens that begin and end a text, and one that the engine keeps free. */
const FRAME_TOKENS = 3;

/** The child's contract for vectors: embeddings, the list of models, and its health. */
export function createVectorService(model: LoadedEncoder): Server {
  const line = new TextQueue((text) => embedText(model, text), model.queueMax);
  const server = createServer((request, response) => void serveVectors(model, line, request, response));
  server.requestTimeout = 0; // Its only client is the server that started it.
  server.keepAliveTimeout = 0;
  return server;
}

async function serveVectors(
  model: LoadedEncoder,
  line: TextQueue<EmbeddedText>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const route = `${request.method} ${request.url?.split("?")[0]}`;
    if (route === "GET /health") return sendJson(response, 200, { status: "ok" });
    if (route === "GET /v1/models") return sendJson(response, 200, modelList(model.names, model.window));
    if (route !== "POST /v1/embeddings") throw new RequestRefused(`There is no ${route}.`, { status: 404 });
    const body = await readJsonBody(request);
    requireServedModel(model.names, body);
    const texts = inputTexts(body);
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    const embedded = await line.embed(texts, leaving.signal);
    sendJson(response, 200, embeddingList(model, embedded, body));
  } catch (error) {
    sendError(response, error);
  }
}

function inputTexts({ input }: Body): readonly string[] {
  const texts: readonly unknown[] = Array.isArray(input) ? input : [input];
  if (texts.length > TEXTS_MAX) throw new RequestRefused(`There are more than ${TEXTS_MAX} texts.`, { param: "input" });
  return texts.map((text) => {
    if (typeof text === "string" && text !== "") return text;
    throw new RequestRefused("The input must be texts that are not empty.", { param: "input" });
  });
}

interface EmbeddedText {
  /** Of unit length. */
  readonly vector: Float32Array;
  /** Its tokens, at most the window. */
  readonly tokens: number;
}

/** What does not fit is left out at the end, as the models' authors do. */
async function embedText({ model, context, window }: LoadedEncoder, text: string): Promise<EmbeddedText> {
  const all = model.tokenize(text, false);
  const tokens = all.slice(0, window - FRAME_TOKENS);
  const { vector } = await context.getEmbeddingFor(tokens);
  const length = Math.hypot(...vector);
  const unit = Float32Array.from(vector, (value) => (length === 0 ? 0 : value / length));
  return { vector: unit, tokens: Math.min(all.length, window) };
}

function embeddingList(
  { names }: LoadedEncoder,
  embedded: readonly EmbeddedText[],
  { encoding_format: format }: Body,
): object {
  const tokens = embedded.reduce((sum, text) => sum + text.tokens, 0);
  const data = embedded.map(({ vector }, index) => ({
    object: "embedding",
    index,
    embedding: format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector],
  }));
  return { object: "list", data, model: names[0], usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
