import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { dataLines } from "../kit/event-stream.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, serveBehind } from "./behind-upstream.ts";
import { readResponse } from "./read-stream.ts";

const CLOSED_WITHIN_MS = 1000;

/** A model server that sends only what the test lets it send, when the test lets it. */
async function serveControlled(env: Readonly<Record<string, string>> = {}) {
  const opened = Promise.withResolvers<ServerResponse>();
  const behind = await serveBehind((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    opened.resolve(response);
  }, env);
  return { ...behind, opened: opened.promise };
}

/** Reads a stream as it arrives. Each call waits for the next unread text that matches. */
function follow(reply: Response): (pattern: RegExp) => Promise<string> {
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let unseen = "";
  return async (pattern) => {
    for (;;) {
      const match = pattern.exec(unseen);
      if (match !== null) {
        unseen = unseen.slice(match.index + match[0].length);
        return match[0];
      }
      const { value, done } = (await reader?.read()) ?? { value: "", done: true };
      if (done) throw new Error(`the stream ended before ${pattern}: ${unseen}`);
      unseen += value;
    }
  };
}

async function statusOf({ server }: BehindUpstream, id: string): Promise<string> {
  return (await readResponse(await server.fetch(`/v1/responses/${id}`))).status ?? "";
}

describe("between a model server and a client", () => {
  test("each delta arrives before the model server sends the next one", async () => {
    verifies("transport.sse.first-event-is-not-delayed");
    const { create, opened } = await serveControlled();
    const [reply, upstream] = await Promise.all([create({ stream: true }), opened]);
    const next = follow(reply);
    await next(/event: response\.in_progress\n.*\n\n/);
    for (const word of ["one", " two", " three"]) {
      upstream.write(sse(textChunk(word)));
      const frame = await next(/event: response\.output_text\.delta\n.*\n\n/);
      expect(JSON.parse(dataLines(frame)[0] ?? "")).toMatchObject({ delta: word });
    }
    upstream.end(sse(lastChunk("stop"), "[DONE]"));
    expect(await next(/event: response\.completed\n.*\n\n/)).toContain('"text":"one two three"');
  });

  test("a silent stream sends keep-alive comments, which are no events and have no numbers", async () => {
    verifies("transport.sse.keep-alive-comment");
    const { create, opened } = await serveControlled({ SSE_KEEP_ALIVE_MS: "10" });
    const [reply, upstream] = await Promise.all([create({ stream: true }), opened]);
    const next = follow(reply);
    await next(/event: response\.in_progress\n.*\n\n/);
    expect(await next(/^[^\n]*\n\n/)).toMatch(/^: /);
    upstream.end(sse(textChunk("Hi"), lastChunk("stop"), "[DONE]"));
    const added = await next(/event: response\.output_item\.added\n.*\n\n/);
    expect(added).toContain('"sequence_number":2');
  });

  test.each([true, false])("a client that leaves ends the model server's call (stream: %s)", async (stream) => {
    verifies("chat-engine.abort.client-leaves");
    const behind = await serveControlled();
    const leaving = new AbortController();
    const reply = behind.create({ stream }, leaving.signal);
    const upstream = await behind.opened;
    upstream.write(sse(textChunk("Hi")));
    if (stream) await follow(await reply)(/response\.output_text\.delta/);
    const leftAt = performance.now();
    leaving.abort();
    await reply.catch(() => null);
    await behind.upstream.calls[0]?.closed;
    expect(performance.now() - leftAt).toBeLessThan(CLOSED_WITHIN_MS);
  });

  test("a response whose client left is cancelled and keeps its output", async () => {
    const behind = await serveControlled();
    const leaving = new AbortController();
    const reply = behind.create({ stream: true }, leaving.signal);
    const upstream = await behind.opened;
    upstream.write(sse(textChunk("Half")));
    const next = follow(await reply);
    const id = (await next(/resp_[0-9a-f]+/)) ?? "";
    await next(/response\.output_text\.delta/);
    leaving.abort();
    await expect.poll(() => statusOf(behind, id)).toBe("cancelled");
    const ended = await readResponse(await behind.server.fetch(`/v1/responses/${id}`));
    expect(ended.output).toMatchObject([{ status: "incomplete", content: [{ text: "Half" }] }]);
  });

  test("a model server that stalls ends the stream in response.failed", async () => {
    verifies("chat-engine.timeout.stalled-stream");
    const { create, opened } = await serveControlled({ MODEL_IDLE_TIMEOUT_MS: "100" });
    const [reply, upstream] = await Promise.all([create({ stream: true }), opened]);
    upstream.write(sse(textChunk("Half")));
    const text = await reply.text();
    expect(text).toMatch(/event: error\n.*\n\nevent: response\.failed\n.*\n\n$/);
    expect(text).toContain('"text":"Half"');
  });
});
