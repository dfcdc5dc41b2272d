import type { ServerResponse } from "node:http";
import { afterAll } from "vitest";
import { lastChunk, sse, textChunk, toolDelta } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";

export const WHOLE = "The tide comes in, the tide goes out.";
export const BEGUN = "The tide comes in, ";
export const OTHER = "The sea is never still.";
/** What the model says once it knows the weather. */
export const KNOWN = "18 degrees.";

/** What is asked, by what the model does after it broke off. */
export const ASKED = {
  same: "Say the same again",
  other: "Say something else",
  call: "What is the weather in Paris?",
} as const;

/**
 * A server whose model breaks its first answer to each request off, in a text or in a call of `get_weather`. It ends
 * with the tests of the file.
 */
export async function startBreakingServer(): Promise<TestServer> {
  const broken = new Set<string>();
  const model = await serveHttp((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = Buffer.concat(pieces).toString();
      const key = `${Object.values(ASKED).find((asked) => body.includes(asked))} ${body.length}`;
      const isFirst = !broken.has(key);
      if (isFirst) broken.add(key);
      else broken.delete(key); // The next request like this one breaks off again.
      answer(response, body, isFirst);
    });
  }, afterAll);
  const env = { MODEL_BASE_URL: `${model.url}/v1`, MODEL_CONTINUATION: "none", MODEL_RETRY_MS: "60000" };
  const server = await startTestServer({ env });
  afterAll(() => server.close());
  return server;
}

function answer(response: ServerResponse, body: string, isFirst: boolean): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (body.includes('"role":"tool"')) return void response.end(sse(textChunk(KNOWN), lastChunk("stop"), "[DONE]"));
  const isCall = body.includes(ASKED.call);
  if (isFirst)
    return breakOff(
      response,
      isCall ? call("call_a", '{"city":"Ro') : [textChunk("The tide "), textChunk("comes in, ")],
    );
  const said = isCall
    ? [...call("call_b", '{"city":"Paris"}'), lastChunk("tool_calls")]
    : [textChunk(body.includes(ASKED.same) ? WHOLE : OTHER), lastChunk("stop")];
  response.end(sse(...said, "[DONE]"));
}

function call(id: string, args: string): readonly unknown[] {
  return [
    toolDelta(0, { id, type: "function", function: { name: "get_weather", arguments: "" } }),
    toolDelta(0, { function: { arguments: args } }),
  ];
}

function breakOff(response: ServerResponse, said: readonly unknown[]): void {
  response.write(sse(...said), () => setTimeout(() => response.socket?.destroy(), 20));
}
