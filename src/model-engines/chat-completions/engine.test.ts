import { createServer } from "node:net";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { transcript } from "../model-server/reply/transcript.fixture.ts";
import { collect, engineFor, lastChunk, serveChat, sse, textChunk } from "./chat-server.fixture.ts";
import type { ChatCompletionsOptions } from "./engine.ts";

verifies(
  "chat-engine.upstream.always-streams",
  "chat-engine.upstream.asks-for-usage",
  "chat-engine.finish.missing-is-a-failure",
  "chat-engine.errors.status-before-first-byte",
  "chat-engine.abort.client-leaves",
  "chat-engine.timeout.connect-and-first-byte",
  "chat-engine.timeout.stalled-stream",
);

const SSE_HEADERS = { "content-type": "text/event-stream" };
const unaborted = () => new AbortController().signal;

/** The events that the engine reads from a reply sent in these pieces. */
async function read(
  pieces: readonly (string | Buffer)[],
  headers: Record<string, string> = SSE_HEADERS,
): Promise<ModelEvent[]> {
  const server = await serveChat((response) => {
    response.writeHead(200, headers);
    for (const piece of pieces) response.write(piece);
    response.end();
  });
  return collect(await engineFor(server).sample(aRequest(), unaborted()));
}

async function check(
  pieces: readonly (string | Buffer)[],
  expected: string,
  headers?: Record<string, string>,
): Promise<void> {
  expect(transcript(await read(pieces, headers))).toBe(expected);
}

/** The error that ends a turn, and the transcript before it. */
async function fault(batches: AsyncIterable<readonly ModelEvent[]>): Promise<{ said: string; error: ModelError }> {
  const events: ModelEvent[] = [];
  try {
    for await (const batch of batches) events.push(...batch);
  } catch (error) {
    if (error instanceof ModelError) return { said: transcript(events), error };
    throw error;
  }
  throw new Error(`the turn ended without an error: ${transcript(events)}`);
}

async function refusal(options: Partial<ChatCompletionsOptions>, origin: string): Promise<ModelError> {
  const outcome = await engineFor({ origin }, options)
    .sample(aRequest(), unaborted())
    .catch((error: unknown) => error);
  if (outcome instanceof ModelError) return outcome;
  throw new Error("the turn was accepted");
}

const whole = sse(
  textChunk("Hé"),
  textChunk(" \u{1F600}"),
  lastChunk("stop"),
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
  "[DONE]",
);
const expected = "model m | Hé \u{1F600} | usage 3/0/0 2/0 | stop";

describe("the request", () => {
  test("goes to chat/completions under the base URL, with the key, and asks for a stream with usage", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).end(whole));
    await collect(
      await engineFor(server, { baseUrl: `${server.origin}/v1/?api-version=1` }).sample(aRequest(), unaborted()),
    );
    const [call] = server.calls;
    expect(call?.path).toBe("/v1/chat/completions?api-version=1");
    expect(call?.headers.authorization).toBe("Bearer sk-secret-key-of-the-operator");
    expect(JSON.parse(call?.body ?? "")).toMatchObject({
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
    });
  });
  test("has no authorization header if there is no key", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).end(whole));
    await collect(await engineFor(server, { apiKey: null }).sample(aRequest(), unaborted()));
    expect(server.calls[0]?.headers.authorization).toBeUndefined();
  });
  test("reuses connections", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).end(whole));
    const engine = engineFor(server);
    for (let turn = 0; turn < 10; turn += 1) {
      await collect(await engine.sample(aRequest(), unaborted()));
      await new Promise(setImmediate); // The reply ends a moment after the turn's [DONE].
    }
    expect(new Set(server.calls.map((call) => call.closed)).size).toBeLessThan(10);
  });
});

describe("the stream", () => {
  test("gives the same events wherever its bytes are split", async () => {
    const bytes = Buffer.from(whole);
    const server = await serveChat((response, call) => {
      const cut = Number(JSON.parse(call.body).user);
      response.writeHead(200, SSE_HEADERS);
      response.write(bytes.subarray(0, cut));
      setImmediate(() => response.end(bytes.subarray(cut)));
    });
    const engine = engineFor(server);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const events = await collect(await engine.sample(aRequest({ user: String(cut) }), unaborted()));
      expect(transcript(events), `cut at ${cut}`).toBe(expected);
    }
  });
  test("gives the same events if each byte arrives alone", () =>
    check(
      [...Buffer.from(whole)].map((byte) => Buffer.of(byte)),
      expected,
    ));
  test("may have other line ends, comments and a byte order mark", () =>
    check([`\uFEFF: hello\r\n\r\n${whole.replaceAll("\n", "\r\n")}`], expected));
  test("may lack a content type", () => check([whole], expected, {}));
  test("is passed on while it arrives", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).write(sse(textChunk("Hi"))));
    for await (const batch of await engineFor(server).sample(aRequest(), unaborted())) {
      expect(transcript(batch)).toBe("model m | Hi");
      break;
    }
  });
  test("needs no finish reason if it ends with [DONE]", () =>
    check([sse(textChunk("Hi"), "[DONE]")], "model m | Hi | stop"));
  test("needs no [DONE] if it has a finish reason", () =>
    check([sse(textChunk("Hi"), lastChunk("length"))], "model m | Hi | length"));
  test("may lack the last empty line", () =>
    check([sse(textChunk("Hi"), lastChunk("stop")).trimEnd()], "model m | Hi | stop"));
  test("may be a single JSON object instead", async () => {
    const answer = {
      model: "m",
      choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    await check([JSON.stringify(answer)], "model m | Hi | usage 1/0/0 1/0 | stop", {
      "content-type": "application/json",
    });
  });
  test("ends the turn at [DONE] even if the connection stays open", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).write(whole));
    expect(transcript(await collect(await engineFor(server).sample(aRequest(), unaborted())))).toBe(expected);
  });
});

describe("a model server that closes the connection", () => {
  test("fails the turn at any point before the finish reason, after the events that arrived", async () => {
    const begin = sse(textChunk("Hi"));
    const bytes = Buffer.from(sse(textChunk("Hi"), textChunk("!")));
    const server = await serveChat((response, call) => {
      const [cut, manner] = String(JSON.parse(call.body).user).split(" ");
      response.writeHead(200, SSE_HEADERS);
      response.write(bytes.subarray(0, Number(cut)), () =>
        manner === "reset" ? response.socket?.resetAndDestroy() : response.end(),
      );
    });
    const engine = engineFor(server);
    for (const manner of ["reset", "end"]) {
      for (let cut = 1; cut < bytes.length; cut += 7) {
        const { said, error } = await fault(await engine.sample(aRequest({ user: `${cut} ${manner}` }), unaborted()));
        expect(error).toMatchObject({ status: 502, type: "server_error" });
        // Bytes sent before a reset can be lost; those before a clean end cannot.
        if (manner === "end") expect(said.startsWith("model m | Hi"), `cut at ${cut}`).toBe(cut >= begin.length - 2);
      }
    }
  });
  test("completes the turn if it closes after the finish reason", async () => {
    const server = await serveChat((response) => {
      response.writeHead(200, SSE_HEADERS);
      response.write(sse(textChunk("Hi"), lastChunk("stop")));
      setTimeout(() => response.destroy(), 50);
    });
    expect(transcript(await collect(await engineFor(server).sample(aRequest(), unaborted())))).toBe(
      "model m | Hi | stop",
    );
  });
  test("refuses the turn if it closes before its headers", async () => {
    const server = await serveChat((response) => response.socket?.resetAndDestroy());
    expect(await refusal({}, server.origin)).toMatchObject({
      status: 502,
      message: "Cannot reach the model server: it closed the connection.",
    });
  });
});

describe("errors inside the stream", () => {
  for (const [shape, text] of [
    ["an error object", sse({ error: { message: "Overloaded", code: 503 } })],
    ["an error text", sse({ error: "Overloaded" })],
    ["an event named error", `event: error\n${sse({ message: "Overloaded" })}`],
    ["the bare object of older servers", sse({ object: "error", message: "Overloaded", code: 500 })],
  ] as const) {
    test(`${shape} fails the turn after the events that arrived`, async () => {
      const server = await serveChat((response) =>
        response.writeHead(200, SSE_HEADERS).end(sse(textChunk("Hi")) + text + sse("[DONE]")),
      );
      const { said, error } = await fault(await engineFor(server).sample(aRequest(), unaborted()));
      expect(said).toBe("model m | Hi");
      expect(error.type).toBe("server_error");
      expect(error.message).toContain("Overloaded");
    });
  }
  test("data that is not a chunk fails the turn", async () => {
    const server = await serveChat((response) =>
      response.writeHead(200, SSE_HEADERS).end(sse(textChunk("Hi"), "oops")),
    );
    expect((await fault(await engineFor(server).sample(aRequest(), unaborted()))).error.message).toBe(
      "The model server sent something that is no chat-completions chunk.",
    );
  });
  test("an endless event fails the turn at a limit of memory", async () => {
    const server = await serveChat((response) => {
      response.on("error", () => {}).writeHead(200, SSE_HEADERS);
      response.end(`${sse(textChunk("Hi"))}data: ${"x".repeat(17 * 1024 * 1024)}`);
    });
    const { said, error } = await fault(await engineFor(server).sample(aRequest(), unaborted()));
    expect(said).toBe("model m | Hi");
    expect(error).toMatchObject({ status: 502, message: "The model server sent an event that is too large." });
    await server.calls[0]?.closed;
  });
  test("a JSON error with status 200 refuses the turn", async () => {
    const server = await serveChat((response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"error":{"message":"Slow down","code":429}}'),
    );
    expect(await refusal({}, server.origin)).toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      message: "Slow down",
    });
  });
});

describe("refusals", () => {
  async function refused(status: number, body: string, headers: Record<string, string> = {}): Promise<ModelError> {
    const server = await serveChat((response) => response.writeHead(status, headers).end(body));
    return refusal({}, server.origin);
  }
  test("a rate limit keeps its status and Retry-After", async () => {
    const error = await refused(429, '{"error":{"message":"Slow down","type":"tokens"}}', { "retry-after": "7" });
    expect(error).toMatchObject({
      status: 429,
      type: "tokens",
      code: "rate_limit_exceeded",
      retryAfterSeconds: 7,
      message: "Slow down",
    });
  });
  test("an endless error body is read up to a limit", async () => {
    const server = await serveChat((response) => {
      response.writeHead(500);
      const more = (): void => {
        while (!response.destroyed && response.write("x".repeat(16_384)));
      };
      response.on("drain", more).on("error", () => {});
      more();
    });
    expect(await refusal({}, server.origin)).toMatchObject({ status: 500, type: "server_error" });
    await server.calls[0]?.closed;
  });
  test("the error of an unreachable server does not show its address", async () => {
    const port = await freePort();
    const error = await refusal({ baseUrl: `http://127.0.0.1:${port}/secret/v1` }, "");
    expect(error).toMatchObject({
      status: 502,
      message: "Cannot reach the model server: the connection was refused.",
    });
  });
});

describe("timeouts", () => {
  test("a server that sends no headers fails the turn after the idle timeout", async () => {
    const server = await serveChat(() => {});
    const error = await refusal({ timeouts: { connectMs: 1000, idleMs: 100, totalMs: 5000 } }, server.origin);
    expect(error).toMatchObject({
      status: 504,
      message: "The model server sent nothing for 0.1 s.",
    });
    await server.calls[0]?.closed;
  });
  test("a stream that stalls fails after the idle timeout", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).write(sse(textChunk("Hi"))));
    const engine = engineFor(server, { timeouts: { connectMs: 1000, idleMs: 100, totalMs: 5000 } });
    const { said, error } = await fault(await engine.sample(aRequest(), unaborted()));
    expect(said).toBe("model m | Hi");
    expect(error.status).toBe(504);
    await server.calls[0]?.closed;
  });
  test("a stream that never ends fails after the total timeout", async () => {
    const server = await serveChat((response) => {
      response.writeHead(200, SSE_HEADERS);
      const ticking = setInterval(() => response.write(sse(textChunk("x"))), 10);
      response.on("close", () => clearInterval(ticking));
    });
    const engine = engineFor(server, { timeouts: { connectMs: 1000, idleMs: 1000, totalMs: 150 } });
    const { error } = await fault(await engine.sample(aRequest(), unaborted()));
    expect(error).toMatchObject({
      status: 504,
      message: "The model server did not finish its answer within 0.15 s.",
    });
    await server.calls[0]?.closed;
  });
  test("an answer that lacks only [DONE] ends normally at the total timeout", async () => {
    const server = await serveChat((response) =>
      response.writeHead(200, SSE_HEADERS).write(sse(textChunk("Hi"), lastChunk("stop"))),
    );
    const engine = engineFor(server, { timeouts: { connectMs: 1000, idleMs: 5000, totalMs: 200 } });
    expect(transcript(await collect(await engine.sample(aRequest(), unaborted())))).toBe("model m | Hi | stop");
    await server.calls[0]?.closed;
  });
});

describe("stopping", () => {
  test("an abort closes the upstream connection and ends the turn without an error", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).write(sse(textChunk("Hi"))));
    const leaving = new AbortController();
    const events: ModelEvent[] = [];
    for await (const batch of await engineFor(server).sample(aRequest(), leaving.signal)) {
      events.push(...batch);
      leaving.abort();
    }
    expect(transcript(events)).toBe("model m | Hi");
    await server.calls[0]?.closed;
  });
  test("an abort before the headers ends the turn without an error", async () => {
    const leaving = new AbortController();
    const server = await serveChat(() => leaving.abort());
    expect(await collect(await engineFor(server).sample(aRequest(), leaving.signal))).toEqual([]);
    await server.calls[0]?.closed;
  });
  test("a turn that is aborted in advance makes no request", async () => {
    const server = await serveChat(() => {});
    expect(await collect(await engineFor(server).sample(aRequest(), AbortSignal.abort()))).toEqual([]);
    expect(server.calls).toEqual([]);
  });
  test("leaving the loop over the batches closes the upstream connection", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).write(sse(textChunk("Hi"))));
    for await (const batch of await engineFor(server).sample(aRequest(), unaborted())) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    await server.calls[0]?.closed;
  });
  test("a turn can be stopped before it is read", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE_HEADERS).write(sse(textChunk("Hi"))));
    const turn = await engineFor(server).sample(aRequest(), unaborted());
    await turn[Symbol.asyncIterator]().return?.();
    await server.calls[0]?.closed;
  });
  test("a slow reader gets the whole of a long answer", async () => {
    const pieces = Array.from({ length: 20_000 }, (_, position) => `${position} `);
    const server = await serveChat((response) =>
      response.writeHead(200, SSE_HEADERS).end(sse(...pieces.map(textChunk), lastChunk("stop"), "[DONE]")),
    );
    const events: ModelEvent[] = [];
    for await (const batch of await engineFor(server).sample(aRequest(), unaborted())) {
      events.push(...batch);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(transcript(events)).toBe(`model m | ${pieces.join("")} | stop`);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === "object" ? address.port : 0;
}

test("a model that the server does not have is refused with the nearest name that it has", async () => {
  verifies("errors.messages.name-what-was-meant");
  const server = await serveChat((response, { path }) => {
    const isList = path.endsWith("/models");
    response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
    const error = { message: "model 'x' not found", code: "model_not_found" };
    response.end(JSON.stringify(isList ? { data: [{ id: "qwen3:8b" }, { id: "llama3.2:1b" }] } : { error }));
  });
  const engine = engineFor(server);
  const refusalOf = (model: string) => engine.sample(aRequest({ model }), new AbortController().signal);
  const message = (model: string, hint: string): object => ({
    code: "model_not_found",
    message: `The requested model '${model}' does not exist.${hint}`,
  });
  await expect(refusalOf("llama3.2")).rejects.toMatchObject(message("llama3.2", " Did you mean 'llama3.2:1b'?"));
  await expect(refusalOf("qwen3:8")).rejects.toMatchObject(message("qwen3:8", " Did you mean 'qwen3:8b'?"));
  await expect(refusalOf("gpt-9")).rejects.toMatchObject(message("gpt-9", ""));
});
