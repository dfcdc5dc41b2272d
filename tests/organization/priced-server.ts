import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import type { TestServer } from "../kit/test-server.ts";
import { embeds, ranks } from "../model-servers/retrieval-servers.ts";
import { type SeveralOptions, serveSeveral } from "../model-servers/several-servers.ts";
import { type Answer, chunks, usageChunk } from "../responses/behind-upstream.ts";

export const JSON_TYPE = { "content-type": "application/json" };

/** Ten tokens of input, four of them cached, and five of output. */
const USAGE = usageChunk({
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
});

export const saysCounted: Answer = chunks(textChunk("Well done"), lastChunk("stop"), USAGE);

const MODELS = `  chat: { route: chats/a, price: { input: 2, cached_input: 0.5, output: 10 } }
  free: chats/b
  vectors: { route: vectors/v, for: embeddings, price: { input: 1, output: 0 } }
  order: { route: ranks/r, for: ranks }`;

/** What one answer of `chat` costs: 6 × 2 + 4 × 0.5 + 5 × 10 millionths. */
export const ANSWER_COST = 64 / 1_000_000;

/** A server with models with prices and without. Its own key is an operator's. */
export async function servePriced(options: SeveralOptions = {}, answer = saysCounted): Promise<TestServer> {
  const { server } = await serveSeveral({ chats: answer, vectors: embeds, ranks }, MODELS, options);
  return server;
}

/** A new key of the server, with its text as `value`. */
export async function newKeyOf(server: TestServer, members: object = {}): Promise<{ id: string; value: string }> {
  const reply = await server.post("/v1/organization/keys", { name: "ci", ...members });
  if (reply.status !== 200) throw new Error(await reply.text());
  return JSON.parse(await reply.text());
}

/** Calls with another key than the server's own. */
export function callWith(server: TestServer, key: string, path: string, body: unknown): Promise<Response> {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${key}` };
  return server.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The results of today's only bucket. */
export async function resultsOf(server: TestServer, path: string, query: string = ""): Promise<readonly unknown[]> {
  const start = Math.floor(Date.now() / 1000);
  const reply = await server.fetch(`/v1/organization/${path}?start_time=${start}${query}`);
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(text);
  const { data }: { data: readonly { results: readonly unknown[] }[] } = JSON.parse(text);
  return data.flatMap(({ results }) => results);
}

/** What asks for one answer by each HTTP door: path and body. */
export const DOORS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  "a response": ["/v1/responses", { model: "chat", input: "Hi" }],
  "a stream": ["/v1/responses", { model: "chat", input: "Hi", stream: true }],
  "a background response": ["/v1/responses", { model: "chat", input: "Hi", background: true }],
  "a response that is not stored": ["/v1/responses", { model: "chat", input: "Hi", store: false }],
  "a chat completion": ["/v1/chat/completions", { model: "chat", messages: [{ role: "user", content: "Hi" }] }],
  "a completion": ["/v1/completions", { model: "chat", prompt: "Hi" }],
  "a message": ["/v1/messages", { model: "chat", max_tokens: 99, messages: [{ role: "user", content: "Hi" }] }],
  "a compaction": ["/v1/responses/compact", { model: "chat", input: "Hi" }],
};
