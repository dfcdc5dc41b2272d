import type { ServerResponse } from "node:http";
import type { FileTranscriber } from "@antiphon/speech/recognition/speech-engine.ts";
import { lastChunk, sse, textChunk, usageChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import {
  type ChatServer,
  type ReceivedCall,
  serveChat,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";

export { delta, toolDelta, usageChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";

export const UPSTREAM_KEY = "sk-operators-own-key-0123456789";

/** The whole server with a model server of the test. */
export interface BehindUpstream {
  readonly server: TestServer;
  readonly upstream: ChatServer;
  /** Sends a valid create request, changed by `members`. */
  readonly create: (members?: object, signal?: AbortSignal) => Promise<Response>;
  /** The body of the model server's latest call. */
  readonly asked: () => unknown;
}

export type Answer = (response: ServerResponse, call: ReceivedCall) => unknown;

/** Both servers end with the test. */
export async function serveBehind(
  answer: Answer,
  env: Readonly<Record<string, string>> = {},
  speech?: FileTranscriber,
): Promise<BehindUpstream> {
  const upstream = await serveChat(answer);
  const settings = { MODEL_BASE_URL: `${upstream.origin}/v1`, MODEL_API_KEY: UPSTREAM_KEY };
  const server = await startTestServer({ env: { ...settings, ...env }, ...(speech === undefined ? {} : { speech }) });
  const create = (members: object = {}, signal: AbortSignal | null = null): Promise<Response> =>
    server.fetch("/v1/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input: "Hi", ...members }),
      signal,
    });
  return { server, upstream, create, asked: () => JSON.parse(upstream.calls.at(-1)?.body ?? "null") };
}

/** Answers every call with these chunks and the end mark. */
export function chunks(...said: readonly unknown[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(...said, "[DONE]"));
  };
}

/** The token counts of a turn. A model server that sends none has its usage estimated, which is noted. */
export const COUNTS = usageChunk({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });

/** Answers every call with a text. */
export function says(text: string): Answer {
  return chunks(textChunk(text), lastChunk("stop"));
}
