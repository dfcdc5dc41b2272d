import type { ServerResponse } from "node:http";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type BehindUpstream, serveBehind } from "../responses/behind-upstream.ts";

/** A model server that sends a word when the test says so. */
export interface SlowModel extends BehindUpstream {
  /** Waits for the call with this index, from 0. */
  readonly call: (index: number) => Promise<SlowCall>;
  /** Number of calls. */
  readonly count: () => number;
}

export interface SlowCall {
  say(text: string): void;
  finish(reason?: string): void;
  /** Resolves when the server has closed the connection. */
  readonly aborted: Promise<void>;
}

export async function serveSlowModel(env: Readonly<Record<string, string>> = {}): Promise<SlowModel> {
  const calls: SlowCall[] = [];
  const waiting: { readonly index: number; readonly resolve: (call: SlowCall) => void }[] = [];
  const behind = await serveBehind((response) => {
    calls.push(slowCall(response));
    for (const { index, resolve } of waiting) {
      const call = calls[index];
      if (call !== undefined) resolve(call);
    }
  }, env);
  const call = (index: number): Promise<SlowCall> => {
    const known = calls[index];
    if (known !== undefined) return Promise.resolve(known);
    const { promise, resolve } = Promise.withResolvers<SlowCall>();
    waiting.push({ index, resolve });
    return promise;
  };
  return { ...behind, call, count: () => calls.length };
}

function slowCall(response: ServerResponse): SlowCall {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once("close", resolve);
  return {
    say: (text) => void response.write(sse(textChunk(text))),
    finish: (reason = "stop") => void response.end(sse(lastChunk(reason), "[DONE]")),
    aborted: promise,
  };
}
