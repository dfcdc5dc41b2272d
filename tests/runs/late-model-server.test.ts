import type { ServerResponse } from "node:http";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { readEvents } from "../hostile/event-stream.ts";
import { serveHttp } from "../kit/http-server.ts";
import { type BehindUpstream, serveBehind } from "../responses/behind-upstream.ts";
import { WAV } from "../responses/media-samples.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { readLive } from "./live-stream.ts";

interface Late extends BehindUpstream {
  /** The reply to the first call, which the model server has not started. */
  readonly called: Promise<ServerResponse>;
}

/** A model server that answers a call when the test says so. */
async function serveLate(env: Readonly<Record<string, string>> = { STREAM_START_WAIT_MS: "50" }): Promise<Late> {
  const asked = Promise.withResolvers<ServerResponse>();
  const behind = await serveBehind((response) => asked.resolve(response), env);
  return { ...behind, called: asked.promise };
}

function answer(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(sse(textChunk("Here at last"), lastChunk("stop"), "[DONE]"));
}

function refuse(response: ServerResponse, status = 400): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: "The tools are no good.", type: "invalid_request_error" } }));
}

describe("a stream whose model server does not answer yet", () => {
  verifies("responses.stream.begins-without-its-model-server");

  test("starts, sends keep-alives, and continues with the answer", async () => {
    const { server, create, called } = await serveLate({ STREAM_START_WAIT_MS: "50", SSE_KEEP_ALIVE_MS: "20" });
    const reply = await create({ stream: true });
    expect(reply.headers.get("x-ratelimit-limit-requests")).not.toBeNull();
    const { id, whole } = readLive(reply);
    const kept = await readResponse(await server.fetch(`/v1/responses/${await id}`));
    expect(kept.status).toBe("in_progress");
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer(await called);
    const { text, events, final } = await whole;
    expect(text).toMatch(/event: response\.in_progress\n.*\n\n(: keepalive\n\n)+event: response\.output_item\.added\n/);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    expect(final).toMatchObject({ status: "completed", output: [{ content: [{ text: "Here at last" }] }] });
  });

  test("reports a late refusal as error and response.failed", async () => {
    const { server, create, called } = await serveLate();
    const { id, whole } = readLive(await create({ stream: true }));
    refuse(await called);
    const { events, final } = await whole;
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "error",
      "response.failed",
    ]);
    expect(events[2]).toMatchObject({ error: { message: expect.stringContaining("The tools are no good.") } });
    expect(final.status).toBe("failed");
    expect(await readResponse(await server.fetch(`/v1/responses/${await id}`))).toMatchObject({
      id: final.id,
      status: "failed",
      error: final.error,
    });
  });

  test("raises the error in the official client", async () => {
    const { server, called } = await serveLate();
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
    const stream = await client.responses.create({ model: "m", input: "Hi", stream: true });
    refuse(await called);
    await expect(Array.fromAsync(stream)).rejects.toThrow("The tools are no good.");
  });

  test("ends the model server's call when its client leaves", async () => {
    const { server, upstream, create } = await serveLate();
    const leaving = new AbortController();
    const { id, whole } = readLive(await create({ stream: true }, leaving.signal));
    const responseId = await id;
    leaving.abort();
    await expect(whole).rejects.toThrow(/abort/i);
    await upstream.calls[0]?.closed;
    const look = async (): Promise<unknown> => readResponse(await server.fetch(`/v1/responses/${responseId}`));
    await expect.poll(look).toMatchObject({ status: "cancelled" });
  });

  test("can be cancelled by its id", async () => {
    const { server, upstream, create } = await serveLate();
    const { id, whole } = readLive(await create({ stream: true }));
    await server.post(`/v1/responses/${await id}/cancel`, {});
    expect((await whole).events.at(-1)?.type).toBe("response.failed");
    await upstream.calls[0]?.closed;
  });

  test("starts over WebSocket too", async () => {
    const { server, called } = await serveLate();
    const socket = await openSocket(server);
    socket.ask({ model: "m" });
    await socket.until("response.in_progress");
    answer(await called);
    expect((await socket.turn()).text).toBe("Here at last");
  });
});

describe("a model server that refuses", () => {
  verifies("responses.stream.begins-without-its-model-server");

  test("within the wait gets a plain HTTP error", async () => {
    const { create, called } = await serveLate({ STREAM_START_WAIT_MS: "60000" });
    const reply = create({ stream: true });
    refuse(await called);
    expect((await reply).status).toBe(400);
    expect((await reply).headers.get("content-type")).toBe("application/json");
  });

  test("gets a plain HTTP error at any time if nothing is streamed", async () => {
    const { create, called } = await serveLate({ STREAM_START_WAIT_MS: "0" });
    const reply = create({ stream: false });
    const response = await called;
    await new Promise((resolve) => setTimeout(resolve, 50));
    refuse(response);
    expect((await reply).status).toBe(400);
  });
});

describe("a stream whose input takes long to fetch", () => {
  verifies("responses.stream.begins-without-its-model-server");
  const heard = [{ role: "user", content: [{ type: "input_audio", input_audio: { data: WAV, format: "wav" } }] }];

  /** The server uses a transcription server that answers when the test says so. */
  async function serveDeaf() {
    const asked = Promise.withResolvers<ServerResponse>();
    const { url } = await serveHttp((request, response) => {
      request.resume();
      asked.resolve(response);
    });
    const behind = await serveBehind(answer, { STREAM_START_WAIT_MS: "0", TRANSCRIPTION_BASE_URL: `${url}/v1` });
    return { ...behind, transcription: asked.promise };
  }

  test("opens earlier, and continues with all its events", async () => {
    const { create, transcription } = await serveDeaf();
    const reply = await create({ stream: true, input: heard });
    const response = await transcription;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text: "Hello" }));
    expect((await readStream(reply)).final.status).toBe("completed");
  });

  test("reports a fault of the input as an error event", async () => {
    const { create, transcription } = await serveDeaf();
    const reply = await create({ stream: true, input: heard });
    expect(reply.status).toBe(200);
    (await transcription).writeHead(500).end();
    const [event, ...others] = readEvents(await reply.text());
    expect(event).toMatchObject({ type: "error", sequence_number: 0, error: { message: expect.any(String) } });
    expect(others).toEqual([]);
  });
});
