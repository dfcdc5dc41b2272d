import type { ServerResponse } from "node:http";
import {
  type ChatServer,
  lastChunk,
  type ReceivedCall,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type BehindUpstream, serveBehind } from "../responses/behind-upstream.ts";

/** A call of the model, whose answer the test writes piece by piece. */
export interface ModelCall {
  reason(text: string): void;
  say(text: string): void;
  /** The next piece of the arguments of one call of a tool. */
  callWith(text: string): void;
  finish(reason: string): void;
  /** Whether these words are in the request. */
  asks(words: string): boolean;
  /** Resolves when the server has ended the call, or the model has. */
  readonly closed: Promise<void>;
}

/** Calls of a model, in the order in which they come. */
interface WrittenCalls {
  /** Waits for the call with this index, from 0. */
  readonly call: (index: number) => Promise<ModelCall>;
  readonly count: () => number;
}

const JSON_TYPE = { "content-type": "application/json" };
const MODELS = JSON.stringify({ object: "list", data: [{ id: "m", object: "model", created: 0, owned_by: "tests" }] });

/** A server whose model says what the test says. */
export async function serveWrittenModel(
  env: Readonly<Record<string, string>> = {},
): Promise<BehindUpstream & WrittenCalls> {
  const { answer, ...calls } = writtenCalls();
  return { ...(await serveBehind(answer, env)), ...calls };
}

/** A model server alone, for several servers one after the other. */
export async function serveWrittenChat(): Promise<ChatServer & WrittenCalls> {
  const { answer, ...calls } = writtenCalls();
  return { ...(await serveChat(answer)), ...calls };
}

function writtenCalls() {
  const calls: PromiseWithResolvers<ModelCall>[] = [];
  let count = 0;
  const at = (index: number): PromiseWithResolvers<ModelCall> => (calls[index] ??= Promise.withResolvers<ModelCall>());
  const answer = (response: ServerResponse, { path, body }: ReceivedCall): unknown => {
    if (path.endsWith("/models")) return response.writeHead(200, JSON_TYPE).end(MODELS);
    at(count).resolve(modelCall(response, body));
    count += 1;
    return response;
  };
  return { answer, call: (index: number) => at(index).promise, count: () => count };
}

function modelCall(response: ServerResponse, body: string): ModelCall {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  const send = (delta: object): void =>
    void response.write(
      sse({
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        model: "m",
        choices: [{ index: 0, delta, finish_reason: null }],
      }),
    );
  let isCalled = false;
  return {
    asks: (words) => body.includes(words),
    closed: new Promise((resolve) => response.once("close", () => resolve())),
    reason: (text) => send({ reasoning_content: text }),
    say: (text) => void response.write(sse(textChunk(text))),
    callWith: (text) => {
      const head = isCalled ? {} : { id: "call_1", type: "function" };
      const name = isCalled ? {} : { name: "add_numbers" };
      isCalled = true;
      send({ tool_calls: [{ index: 0, ...head, function: { ...name, arguments: text } }] });
    },
    finish: (reason) => void response.end(sse(lastChunk(reason), "[DONE]")),
  };
}
