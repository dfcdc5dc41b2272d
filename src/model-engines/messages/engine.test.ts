import { recordExchanges } from "@antiphon/base/exchanges/exchange-recording.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { freePort } from "../../../tests/kit/http-server.ts";
import { verifies } from "../../../tests/verifies.ts";
import { type ChatServer, collect, serveChat } from "../chat-completions/chat-server.fixture.ts";
import { transcript } from "../model-server/reply/transcript.fixture.ts";
import type { MessagesOptions } from "./engine.ts";
import { ended, frames, messagesEngine, STARTED, STOPPED, textBlock } from "./message-frames.fixture.ts";
import { sealedSignature } from "./sealed-thinking.ts";

const SSE = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const unaborted = () => new AbortController().signal;
const BEGUN = frames(STARTED, textBlock(0, "Hi"));
const WHOLE = frames(STARTED, textBlock(0, "Hi"), ended("end_turn"), STOPPED);
const HI = "model m | Hi | usage 3/0/0 2/0 | stop";

const fault = (type: string, message: string) => JSON.stringify({ type: "error", error: { type, message } });

async function answerOf(server: ChatServer, changes: Partial<ModelRequest> = {}): Promise<string> {
  return transcript(await collect(await messagesEngine(server).sample(aRequest(changes), unaborted())));
}

/** The error that ends a turn, and the transcript before it. */
async function failure(
  server: { readonly origin: string },
  options: Partial<MessagesOptions> = {},
): Promise<{ readonly said: string | null; readonly error: ModelError }> {
  const events: ModelEvent[] = [];
  let isAccepted = false;
  try {
    const turn = await messagesEngine(server, options).sample(aRequest(), unaborted());
    isAccepted = true;
    for await (const batch of turn) events.push(...batch);
  } catch (error) {
    if (error instanceof ModelError) return { said: isAccepted ? transcript(events) : null, error };
    throw error;
  }
  throw new Error(`the turn ended without an error: ${transcript(events)}`);
}

describe("the request", () => {
  test.each([
    ["", "/v1/messages"],
    ["/", "/v1/messages"],
    ["/v1", "/v1/messages"],
    ["/proxy/v1/?key=1", "/proxy/v1/messages?key=1"],
  ])("goes to the API below the base URL %s", async (path, expected) => {
    const server = await serveChat((response) => response.writeHead(200, SSE).end(WHOLE));
    const options = { baseUrl: `${server.origin}${path}`, headers: { "anthropic-beta": "x-1" } };
    await collect(await messagesEngine(server, options).sample(aRequest(), unaborted()));
    const [call] = server.calls;
    expect(call?.path).toBe(expected);
    expect(call?.headers).toMatchObject({
      "x-api-key": "sk-secret-key-of-the-operator",
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "x-1",
    });
    expect(JSON.parse(call?.body ?? "")).toMatchObject({ model: "m", stream: true, max_tokens: 32_000 });
  });
  test("is recorded with its reply", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE).end(WHOLE));
    const seen: string[] = [];
    const turn = await recordExchanges(
      {
        begin: ({ kind, method, url }) => {
          seen.push(`${kind} ${method} ${new URL(url).pathname}`);
          return {
            head: (status) => void seen.push(String(status)),
            data: (bytes) => void seen.push(String(Buffer.from(bytes))),
            end: (error) => void seen.push(`ended ${error}`),
          };
        },
      },
      () => messagesEngine(server).sample(aRequest(), unaborted()),
    );
    await collect(turn);
    expect(seen.slice(0, 2)).toEqual(["model POST /v1/messages", "200"]);
    expect(seen.join("")).toContain('"text_delta"');
  });
});

describe("a form that a model refuses", () => {
  verifies("messages-engine.request.forms-are-learned");

  /** A server that refuses requests with a sentence, until the rule finds nothing to refuse. */
  async function refusing(rule: (body: Record<string, unknown>) => string | null): Promise<ChatServer> {
    return await serveChat((response, { path, body }) => {
      const why = path.endsWith("/messages") ? rule(JSON.parse(body)) : "no list";
      if (why === null) response.writeHead(200, SSE).end(WHOLE);
      else response.writeHead(400, JSON_TYPE).end(fault("invalid_request_error", why));
    });
  }
  const asked = ({ calls }: ChatServer) => calls.map(({ body }): Record<string, unknown> => JSON.parse(body));

  test("is not tried again", async () => {
    const server = await refusing((body) => {
      const text = JSON.stringify(body);
      if (text.includes('"adaptive"')) return "adaptive thinking is not supported";
      return text.includes('"effort"') ? "output_config.effort: not permitted" : null;
    });
    const engine = messagesEngine(server);
    const request = aRequest({ reasoning: { effort: "low", summary: null } });
    for (const _ of [1, 2]) await collect(await engine.sample(request, unaborted()));
    const budget = { type: "enabled", budget_tokens: 2_048 };
    expect(asked(server).map(({ thinking, output_config: output }) => [thinking, output])).toEqual([
      [expect.objectContaining({ type: "adaptive" }), { effort: "low" }],
      [budget, { effort: "low" }],
      [budget, undefined],
      [budget, undefined],
    ]);
  });
  test("may be the format, strict tools, or a setting", async () => {
    const server = await refusing((body) => {
      if ("output_config" in body) return "output_config.format: not supported";
      if (JSON.stringify(body["tools"]).includes("strict")) return "tools.0.custom.strict: not permitted";
      return "temperature" in body ? "temperature: not supported by this model" : null;
    });
    const format = {
      type: "json_schema",
      name: "x",
      description: null,
      schema: { type: "object" },
      strict: true,
    } as const;
    const tool = {
      type: "function",
      name: "look",
      description: null,
      parameters: {},
      output_schema: null,
      strict: true,
    } as const;
    const changes = { text: { format, verbosity: null }, tools: [tool], temperature: 0 };
    expect(await answerOf(server, changes)).toBe(HI);
    expect(asked(server).at(-1)?.["system"]).toBeDefined();
    expect(server.calls).toHaveLength(4);
  });
  test("may be the limit of the answer, unless the client chose it", async () => {
    const server = await refusing(({ max_tokens: limit }) =>
      Number(limit) > 8_192 ? `max_tokens: ${Number(limit)} > 8192, which is the maximum allowed for m` : null,
    );
    expect(await answerOf(server)).toBe(HI);
    expect(asked(server).at(-1)).toMatchObject({ max_tokens: 8_192 });
    await expect(answerOf(server, { maxOutputTokens: 9_000 })).rejects.toMatchObject({
      status: 400,
      param: "max_output_tokens",
    });
  });
  test("may be thinking that another server has signed", async () => {
    const server = await refusing((body) =>
      JSON.stringify(body["messages"]).includes("signature")
        ? "messages.1.content.0: Invalid `signature` in `thinking` block"
        : null,
    );
    const warnings: string[] = [];
    const engine = messagesEngine(server, { onWarning: (warning) => void warnings.push(warning) });
    const items: ModelRequest["items"] = [
      { type: "reasoning", summary: [], encrypted_content: sealedSignature("foreign") },
      { type: "message", role: "assistant", content: "Hello." },
      { type: "message", role: "user", content: "So?" },
    ];
    for (const _ of [1, 2]) await collect(await engine.sample(aRequest({ items }), unaborted()));
    expect(server.calls).toHaveLength(4);
    expect(warnings).toHaveLength(2);
  });
  test("may be thinking behind a history without any, which says nothing of the model", async () => {
    const server = await refusing(({ thinking, messages }) =>
      thinking !== undefined && JSON.stringify(messages).includes('"tool_use"')
        ? "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."
        : null,
    );
    const engine = messagesEngine(server);
    const items: ModelRequest["items"] = [
      { type: "function_call", call_id: "a", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: "A" },
    ];
    const reasoning = { effort: "low", summary: null };
    await collect(await engine.sample(aRequest({ items, reasoning }), unaborted()));
    await collect(await engine.sample(aRequest({ reasoning }), unaborted()));
    expect(asked(server).map(({ thinking }) => thinking !== undefined)).toEqual([true, false, true]);
  });
  test("is refused in the end if no form helps", async () => {
    const server = await refusing(() => "messages: too odd");
    await expect(answerOf(server)).rejects.toMatchObject({ status: 400, message: "messages: too odd", param: "input" });
    expect(server.calls.filter(({ path }) => path.endsWith("/messages"))).toHaveLength(1);
  });
});

describe("errors", () => {
  verifies("messages-engine.errors.in-our-words");

  const CASES: readonly (readonly [status: number, type: string, message: string, expected: object])[] = [
    [401, "authentication_error", "invalid x-api-key", { status: 502, code: "model_authentication_failed" }],
    [403, "permission_error", "No.", { status: 502, code: "model_authentication_failed" }],
    [404, "not_found_error", "model: m", { status: 400, code: "model_not_found", param: "model" }],
    [404, "not_found_error", "Not Found", { status: 502, message: expect.stringContaining("has no messages API") }],
    [
      429,
      "rate_limit_error",
      "Slow down",
      { status: 429, code: "rate_limit_exceeded", retryAfterSeconds: 7, retry: "often" },
    ],
    [402, "billing_error", "Pay", { status: 429, code: "insufficient_quota" }],
    [400, "invalid_request_error", "Your credit balance is too low", { status: 429, code: "insufficient_quota" }],
    [413, "request_too_large", "Too large", { status: 413, type: "invalid_request_error" }],
    [500, "api_error", "Oops", { status: 500, type: "server_error", retry: "often" }],
    [504, "timeout_error", "Slow", { status: 504, type: "server_error", retry: "often" }],
    [529, "overloaded_error", "Overloaded", { status: 503, code: "server_is_overloaded", retry: "often" }],
    [
      400,
      "invalid_request_error",
      "prompt is too long: 210000 tokens > 200000 maximum",
      { status: 400, code: "context_length_exceeded", param: "input", tokenCount: 210_000, window: 200_000 },
    ],
    [400, "invalid_request_error", "messages.0: odd", { status: 400, type: "invalid_request_error", param: "input" }],
  ];

  test.each(CASES)("%i %s: %s", async (status, type, message, expected) => {
    const server = await serveChat((response, { path }) =>
      response
        .writeHead(path.endsWith("/messages") ? status : 404, { ...JSON_TYPE, "retry-after": "7" })
        .end(fault(type, message)),
    );
    const { said, error } = await failure(server);
    expect(said).toBeNull();
    expect(error).toMatchObject(expected);
  });
  test.each([
    ["overloaded_error", { status: 503, code: "server_is_overloaded", retry: "often" }],
    ["rate_limit_error", { status: 429, code: "rate_limit_exceeded" }],
    ["api_error", { status: 500, type: "server_error" }],
  ])("within a stream: %s", async (type, expected) => {
    const server = await serveChat((response) =>
      response.writeHead(200, SSE).end(`${BEGUN}event: error\ndata: ${fault(type, "Oops")}\n\n`),
    );
    const { said, error } = await failure(server);
    expect(said).toBe("model m | Hi");
    expect(error).toMatchObject(expected);
    expect(error.message).toContain("Oops");
  });
  test("do not show the key or the address", async () => {
    const server = await serveChat((response, { headers }) =>
      response
        .writeHead(400, JSON_TYPE)
        .end(fault("invalid_request_error", `${headers.host} ${String(headers["x-api-key"])}`)),
    );
    expect((await failure(server)).error.message).toBe("[redacted] [redacted]");
  });
  test("of an unknown model name the nearest one", async () => {
    const server = await serveChat((response, { path }) => {
      const isList = path.startsWith("/v1/models");
      response.writeHead(isList ? 200 : 404, JSON_TYPE);
      response.end(
        isList
          ? JSON.stringify({ data: [{ id: "claude-sonnet-5" }] })
          : fault("not_found_error", "model: claude-sonet-5"),
      );
    });
    const turn = messagesEngine(server).sample(aRequest({ model: "claude-sonet-5" }), unaborted());
    await expect(turn).rejects.toThrow("Did you mean 'claude-sonnet-5'?");
  });
});

describe("a stream", () => {
  verifies("messages-engine.stream.is-read");

  test("that breaks off fails after the events that arrived, at any point", async () => {
    const bytes = Buffer.from(BEGUN);
    const server = await serveChat((response, call) => {
      const [cut, manner] = String(JSON.parse(call.body).metadata.user_id).split(" ");
      response.writeHead(200, SSE);
      response.write(bytes.subarray(0, Number(cut)), () =>
        manner === "reset" ? response.socket?.resetAndDestroy() : response.end(),
      );
    });
    const engine = messagesEngine(server);
    for (const manner of ["reset", "end"]) {
      for (let cut = 1; cut < bytes.length; cut += 41) {
        const turn = async () => collect(await engine.sample(aRequest({ user: `${cut} ${manner}` }), unaborted()));
        await expect(turn(), `${manner} at ${cut}`).rejects.toMatchObject({ status: 502, type: "server_error" });
      }
    }
  });
  test("that ends before its first event is asked for without a stream", async () => {
    const server = await serveChat((response, { body }) => {
      const isStreamed = JSON.parse(body).stream === true;
      const usage = { input_tokens: 3, output_tokens: 2 };
      const message = {
        id: "msg_1",
        model: "m",
        content: [{ type: "text", text: "Hi" }],
        usage,
        stop_reason: "end_turn",
      };
      response.writeHead(200, isStreamed ? SSE : JSON_TYPE).end(isStreamed ? ": soon\n\n" : JSON.stringify(message));
    });
    expect(await answerOf(server)).toBe(HI);
  });
  test("with an endless event fails at a limit of memory", async () => {
    const server = await serveChat((response) => {
      response.on("error", () => {}).writeHead(200, SSE);
      response.end(`${BEGUN}data: ${"x".repeat(17 * 1024 * 1024)}`);
    });
    const { said, error } = await failure(server);
    expect(said).toBe("model m | Hi");
    expect(error.message).toBe("The model server sent an event that is too large.");
  });
  test("without counts has estimated ones", async () => {
    const server = await serveChat((response) =>
      response.writeHead(200, SSE).end(frames(STARTED, textBlock(0, "Hi"), ended("end_turn", {}, {}), STOPPED)),
    );
    const events = await collect(await messagesEngine(server).sample(aRequest(), unaborted()));
    expect(events.find(({ type }) => type === "usage")).toMatchObject({ usage: { outputTokens: 1, isEstimate: true } });
  });
  test("that stalls fails after the idle timeout, and one that never ends after the total timeout", async () => {
    const stalled = await serveChat((response) => response.writeHead(200, SSE).write(BEGUN));
    const idle = { timeouts: { connectMs: 1000, idleMs: 100, totalMs: 5000 } };
    expect(await failure(stalled, idle)).toMatchObject({ said: "model m | Hi", error: { status: 504 } });
    const endless = await serveChat((response) => {
      response.writeHead(200, SSE).write(BEGUN);
      const ticking = setInterval(() => response.write(frames({ type: "ping" })), 10);
      response.on("close", () => clearInterval(ticking));
    });
    const total = { timeouts: { connectMs: 1000, idleMs: 1000, totalMs: 150 } };
    expect((await failure(endless, total)).error).toMatchObject({
      status: 504,
      message: expect.stringContaining("0.15 s"),
    });
    await endless.calls[0]?.closed;
  });
});

describe("stopping", () => {
  test("an abort closes the connection and ends the turn without an error", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE).write(BEGUN));
    const leaving = new AbortController();
    const events: ModelEvent[] = [];
    for await (const batch of await messagesEngine(server).sample(aRequest(), leaving.signal)) {
      events.push(...batch);
      leaving.abort();
    }
    expect(transcript(events)).toBe("model m | Hi");
    await server.calls[0]?.closed;
  });
  test("an abort before the headers ends the turn without an error", async () => {
    const leaving = new AbortController();
    const server = await serveChat(() => leaving.abort());
    expect(await collect(await messagesEngine(server).sample(aRequest(), leaving.signal))).toEqual([]);
    await server.calls[0]?.closed;
  });
  test("a turn that is aborted in advance makes no request", async () => {
    const server = await serveChat(() => {});
    expect(await collect(await messagesEngine(server).sample(aRequest(), AbortSignal.abort()))).toEqual([]);
    expect(server.calls).toEqual([]);
  });
  test("leaving the iteration closes the connection", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE).write(BEGUN));
    const turn = await messagesEngine(server).sample(aRequest(), unaborted());
    await turn[Symbol.asyncIterator]().return?.();
    await server.calls[0]?.closed;
  });
});

describe("tokens", () => {
  verifies("messages-engine.tokens.counted-by-the-server");

  test("are counted by the server", async () => {
    const server = await serveChat((response) => response.writeHead(200, JSON_TYPE).end('{"input_tokens":42}'));
    const engine = messagesEngine(server);
    expect(await engine.countTokens(aRequest(), unaborted())).toEqual({ tokens: 42, exact: true });
    expect(await engine.estimateTokens(aRequest(), unaborted())).toBe(42);
    expect(server.calls.map(({ path }) => path)).toEqual(["/v1/messages/count_tokens", "/v1/messages/count_tokens"]);
    expect(Object.keys(JSON.parse(server.calls[0]?.body ?? ""))).toEqual(["model", "messages"]);
  });
  test("are estimated where it does not count, which is remembered", async () => {
    const server = await serveChat((response) => response.writeHead(404).end());
    const engine = messagesEngine(server);
    for (const _ of [1, 2])
      expect(await engine.countTokens(aRequest(), unaborted())).toEqual({ tokens: expect.any(Number), exact: false });
    expect(server.calls).toHaveLength(1);
    expect(await engine.estimateTokens(aRequest(), unaborted())).toBeGreaterThan(0);
  });
  test("of the window are those of the operator, or of a refusal", async () => {
    const server = await serveChat((response) =>
      response
        .writeHead(400, JSON_TYPE)
        .end(fault("invalid_request_error", "prompt is too long: 9000 tokens > 8000 maximum")),
    );
    const engine = messagesEngine(server);
    expect(await engine.contextWindow("m", unaborted())).toBeNull();
    await expect(engine.sample(aRequest(), unaborted())).rejects.toMatchObject({ code: "context_length_exceeded" });
    expect(await engine.contextWindow("m", unaborted())).toBe(8_000);
    const own = messagesEngine(server, { contextWindow: 5_000 });
    expect(await own.contextWindow("m", unaborted())).toBe(5_000);
  });
});

test("the models are those of the server's list", async () => {
  const server = await serveChat((response) =>
    response.writeHead(200, JSON_TYPE).end(
      JSON.stringify({
        data: [{ type: "model", id: "claude-x", display_name: "X", created_at: "2026-01-02T00:00:00Z" }],
        has_more: false,
      }),
    ),
  );
  const engine = messagesEngine(server, { abilities: { files: false } });
  expect(await engine.listModels(unaborted())).toEqual([
    { id: "claude-x", created: Date.UTC(2026, 0, 2) / 1000, ownedBy: "unknown" },
  ]);
  expect(server.calls[0]?.path).toBe("/v1/models?limit=1000");
  expect(engine.abilitiesOf("m")).toEqual({ images: true, imageUrls: true, files: false, audioFormats: [] });
  expect(engine.reasoningDefaults("claude-x")).toBeNull();
  expect(await engine.continuesAnswers("claude-x", unaborted())).toBe(false);
  const closed = messagesEngine({ origin: `http://127.0.0.1:${await freePort()}` });
  await expect(closed.listModels(unaborted())).rejects.toMatchObject({ status: 502 });
});
