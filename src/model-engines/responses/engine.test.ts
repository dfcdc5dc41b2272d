import { recordExchanges } from "@antiphon/base/exchanges/exchange-recording.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { collect, serveChat } from "../chat-completions/chat-server.fixture.ts";
import { transcript } from "../model-server/reply/transcript.fixture.ts";
import type { ResponsesEngineOptions } from "./engine.ts";
import { CREATED, messageEvents, responseFrames, responsesEngineFor, textStream } from "./responses-server.fixture.ts";
import { serverKey, writeSealedText } from "./sealed-text.ts";

const SSE = { "content-type": "text/event-stream" };
const SAID = "model m | message_started | Hé \u{1F600} | message_finished | usage 3/1/0 2/1 | stop";
const WHOLE = textStream("Hé \u{1F600}");
const unaborted = () => new AbortController().signal;

/** How a turn ended: the transcript of its events, and the error that ended it. */
async function outcomeOf(batches: Promise<AsyncIterable<readonly ModelEvent[]>>) {
  const events: ModelEvent[] = [];
  try {
    for await (const batch of await batches) events.push(...batch);
    return { said: transcript(events), error: null };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { said: transcript(events), error };
  }
}

type Pieces = readonly (string | Buffer)[];

/** Asks a server that sends these pieces. */
async function read(
  pieces: Pieces,
  options: Partial<ResponsesEngineOptions> = {},
  headers: Record<string, string> = SSE,
) {
  const server = await serveChat((response) => {
    response.writeHead(200, headers);
    for (const piece of pieces) response.write(piece);
    response.end();
  });
  return await outcomeOf(responsesEngineFor(server, options).sample(aRequest(), unaborted()));
}

async function refused(status: number, body: object, headers: Record<string, string> = {}): Promise<ModelError | null> {
  const server = await serveChat((response) => response.writeHead(status, headers).end(JSON.stringify(body)));
  return (await outcomeOf(responsesEngineFor(server).sample(aRequest(), unaborted()))).error;
}

describe("the call", () => {
  test("goes to responses under the base URL, with the key, its headers and the trace", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE).end(WHOLE));
    const engine = responsesEngineFor(server, {
      baseUrl: `${server.origin}/v1/?api-version=1`,
      headers: { "x-project": "p" },
    });
    const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: null };
    await collect(await engine.sample(aRequest({ trace }), unaborted()));
    const [call] = server.calls;
    expect(call?.path).toBe("/v1/responses?api-version=1");
    expect(call?.headers).toMatchObject({
      authorization: "Bearer sk-secret-key-of-the-operator",
      accept: "text/event-stream",
      "x-project": "p",
      "user-agent": "antiphon",
      traceparent: trace.traceparent,
    });
    expect(JSON.parse(call?.body ?? "")).toMatchObject({ model: "m", stream: true, store: false });
  });

  test("is recorded with its reply", async () => {
    const server = await serveChat((response) => response.writeHead(200, SSE).end(WHOLE));
    const calls: unknown[] = [];
    let reply = "";
    const recorder = {
      begin: ({ kind, url }: { readonly kind: string; readonly url: string }) => {
        calls.push([kind, url]);
        return { head: () => {}, data: (bytes: Uint8Array) => void (reply += Buffer.from(bytes)), end: () => {} };
      },
    };
    const engine = responsesEngineFor(server);
    await collect(await recordExchanges(recorder, () => engine.sample(aRequest(), unaborted())));
    expect(calls).toEqual([["model", `${server.origin}/v1/responses`]]);
    expect(reply).toBe(WHOLE);
  });
});

describe("an answer", () => {
  test("may be split anywhere, and end with or without an end mark", async () => {
    const bytes = Buffer.from(WHOLE);
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual({ said: SAID, error: null });
    expect(await read([WHOLE, "data: [DONE]\n\n"])).toEqual({ said: SAID, error: null });
    expect(await read([WHOLE.trimEnd()])).toEqual({ said: SAID, error: null });
    expect(await read([": keepalive\n\n", WHOLE], {}, {})).toEqual({ said: SAID, error: null });
  });

  test("may come as one object", async () => {
    const output = [{ id: "msg_1", type: "message", content: [{ type: "output_text", text: "Hi" }] }];
    const usage = { input_tokens: 3, output_tokens: 2 };
    const answer = { id: "resp_1", object: "response", model: "m", status: "completed", error: null, output, usage };
    const said = "model m | message_started | Hi | message_finished | usage 3/0/0 2/0 | stop";
    expect(await read([JSON.stringify(answer)], {}, { "content-type": "application/json" })).toEqual({
      said,
      error: null,
    });
    const failed = { ...answer, status: "failed", error: { code: "rate_limit_exceeded", message: "Slow." } };
    expect(await read([JSON.stringify(failed)], {}, {})).toMatchObject({ error: { status: 429 } });
  });

  test("is asked for without a stream if the stream was empty", async () => {
    const server = await serveChat((response, { body }) => {
      if (JSON.parse(body).stream === true) response.writeHead(200, SSE).end();
      else response.writeHead(429).end(JSON.stringify({ error: { message: "Slow." } }));
    });
    expect(await outcomeOf(responsesEngineFor(server).sample(aRequest(), unaborted()))).toMatchObject({
      error: { status: 429 },
    });
  });

  test("with unknown events is read without them, with one warning for each kind", async () => {
    verifies("responses-engine.stream.strictly-sequential");
    const warnings: string[] = [];
    const strange = responseFrames({ type: "response.strange" }, { type: "response.strange" }, { type: "odd <b>" });
    const onWarning = (warning: string): void => void warnings.push(warning);
    expect((await read([strange, WHOLE], { onWarning })).said).toBe(SAID);
    expect(warnings).toEqual([
      "the model server sent response.strange, which was skipped",
      "the model server sent an unknown type, which was skipped",
    ]);
  });
});

describe("a refusal", () => {
  test("keeps its status, code, param and the seconds to wait", async () => {
    verifies("responses-engine.errors.events-and-statuses");
    const error = {
      message: "Bad 'input[0].x'.",
      type: "invalid_request_error",
      code: "unknown_parameter",
      param: "input[0].x",
    };
    expect(await refused(400, { error })).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      code: "unknown_parameter",
      param: "input",
      quoted: error.message,
      retry: "never",
    });
    expect(await refused(429, { error: { message: "Slow." } }, { "retry-after": "7" })).toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      retryAfterSeconds: 7,
      retry: "often",
    });
    expect(await refused(503, {})).toMatchObject({ status: 503, retry: "often" });
    expect(await refused(401, { error: { message: "Wrong key sk-secret-key-of-the-operator" } })).toMatchObject({
      status: 502,
      code: "model_authentication_failed",
    });
    expect(await refused(400, { error: { message: "x", code: "context_length_exceeded" } })).toMatchObject({
      code: "context_length_exceeded",
      param: "input",
    });
  });

  test("of the path names the API that is missing", async () => {
    expect((await refused(404, { error: { message: "Not Found" } }))?.message).toContain(
      "has no Responses API under the URL",
    );
  });

  test("of encrypted reasoning, or of unknown members, is answered by a call without them", async () => {
    const asked: unknown[] = [];
    const server = await serveChat((response, { body }) => {
      const request: Readonly<Record<string, unknown>> = JSON.parse(body);
      asked.push([request["include"], request["seed"]]);
      const refuse = (error: object): unknown => response.writeHead(400).end(JSON.stringify({ error }));
      if (request["include"] !== undefined)
        return refuse({ message: "Encrypted content is not supported with this model.", param: "include" });
      if (request["seed"] !== undefined) return refuse({ message: "Unknown parameter: 'seed'.", param: "seed" });
      return response.writeHead(200, SSE).end(WHOLE);
    });
    const engine = responsesEngineFor(server);
    const request = aRequest({ extras: { standard: { seed: 1 }, unknown: {}, stop: [] } });
    expect(engine.notesOn(request)).toEqual([]);
    for (let turn = 0; turn < 2; turn++) expect((await outcomeOf(engine.sample(request, unaborted()))).said).toBe(SAID);
    const include = ["reasoning.encrypted_content"];
    expect(asked).toEqual([
      [include, 1],
      [undefined, 1],
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(engine.notesOn(request)).toMatchObject([{ what: "seed" }]);
  });

  test("of reasoning that the server can no longer read is answered by a call without it", async () => {
    const server = await serveChat((response, { body }) => {
      if (!body.includes("gAAA")) response.writeHead(200, SSE).end(WHOLE);
      else
        response.writeHead(400).end(
          JSON.stringify({
            error: { code: "invalid_encrypted_content", message: "The encrypted content could not be verified." },
          }),
        );
    });
    const warnings: string[] = [];
    const engine = responsesEngineFor(server, { onWarning: (warning) => warnings.push(warning) });
    const sealedText = writeSealedText(serverKey(new URL(`${server.origin}/v1`)), {
      id: "rs_9",
      encryptedContent: "gAAA",
    });
    const items: readonly ContextItem[] = [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: sealedText },
      { type: "message", role: "assistant", content: "Hi" },
      { type: "message", role: "user", content: "And?" },
    ];
    expect((await outcomeOf(engine.sample(aRequest({ items }), unaborted()))).said).toBe(SAID);
    expect(warnings).toHaveLength(1);
    expect(server.calls).toHaveLength(2);
  });
});

describe("an answer that fails", () => {
  const begun = responseFrames(CREATED, ...messageEvents("Hi").slice(0, 3));
  const BEGUN = "model m | message_started | Hi";
  const quota = { code: "insufficient_quota", message: "You exceeded your current quota." };

  test.each<[string, object, object]>([
    [
      "an error event",
      { type: "error", sequence_number: 2, error: { type: "insufficient_quota", ...quota, param: null } },
      { status: 429, code: "insufficient_quota", message: quota.message },
    ],
    [
      "a bare error event",
      { type: "error", code: "rate_limit_exceeded", message: "Try again in 3s.", param: null },
      { status: 429, retryAfterSeconds: 3, retry: "often" },
    ],
    [
      "a failed response",
      { type: "response.failed", response: { status: "failed", error: quota } },
      { status: 429, code: "insufficient_quota" },
    ],
    [
      "a failed response of the server's fault",
      { type: "response.failed", response: { status: "failed", error: { code: "server_error", message: "Oh." } } },
      { status: 500, code: "server_error", quoted: "Oh.", retry: "often" },
    ],
    [
      "a cancelled response",
      { type: "response.failed", response: { status: "cancelled", error: null } },
      { status: 502, message: "The model server cancelled its answer." },
    ],
    ["an error of a gateway", { error: { message: "upstream gone", code: 503 } }, { status: 503 }],
  ])("by %s keeps what was said before", async (_title, event, members) => {
    verifies("responses-engine.errors.events-and-statuses");
    expect(await read([begun, responseFrames(event)])).toMatchObject({ said: BEGUN, error: members });
    expect(await read([responseFrames(event)])).toMatchObject({ said: "", error: members });
  });

  test("by ending without its last event is cut", async () => {
    verifies("responses-engine.finish.missing-is-a-failure");
    const cut = {
      said: BEGUN,
      error: { message: "The model server broke off in the middle of its answer.", retry: "often" },
    };
    expect(await read([begun])).toMatchObject(cut);
    expect(await read([begun, "data: [DONE]\n\n"])).toMatchObject(cut);
    const server = await serveChat((response) => {
      response.writeHead(200, SSE).write(begun);
      response.write("", () => response.socket?.destroy());
    });
    expect((await outcomeOf(responsesEngineFor(server).sample(aRequest(), unaborted()))).error).toMatchObject(
      cut.error,
    );
  });

  test("by what is no event, or too large, is broken", async () => {
    expect(await read([begun, "data: nonsense\n\n"])).toMatchObject({
      said: BEGUN,
      error: { status: 502, retry: "once" },
    });
    expect(await read(["<html>"], {}, {})).toMatchObject({ error: { status: 502 } });
    const large = "x".repeat(17 * 1024 * 1024);
    expect((await read([`data: ${large}`])).error?.message).toContain("too large");
  });

  test("by silence or slowness fails after the timeout", async () => {
    verifies("responses-engine.finish.missing-is-a-failure");
    const server = await serveChat((response) => response.writeHead(200, SSE).write(begun));
    const ask = (timeouts: ResponsesEngineOptions["timeouts"]) =>
      outcomeOf(responsesEngineFor(server, { timeouts }).sample(aRequest(), unaborted()));
    expect(await ask({ connectMs: 500, idleMs: 500, totalMs: 60_000 })).toMatchObject({
      said: BEGUN,
      error: { status: 504, message: "The model server sent nothing for 0.5 s." },
    });
    expect(await ask({ connectMs: 500, idleMs: 60_000, totalMs: 300 })).toMatchObject({
      said: BEGUN,
      error: { status: 504 },
    });
  });
});

describe("a turn that nobody waits for", () => {
  test.each<[string, "aborted" | "left"]>([
    ["whose request is aborted", "aborted"],
    ["whose answer is left", "left"],
  ])("%s closes its call", async (_title, way) => {
    verifies("responses-engine.abort.client-leaves");
    const server = await serveChat((response) => response.writeHead(200, SSE).write(responseFrames(CREATED)));
    const controller = new AbortController();
    const turn = await responsesEngineFor(server).sample(aRequest(), controller.signal);
    for await (const _batch of turn) {
      if (way === "left") break;
      controller.abort();
    }
    await server.calls[0]?.closed;
  });

  test("before it is accepted, ends without events", async () => {
    verifies("responses-engine.abort.client-leaves");
    const controller = new AbortController();
    const server = await serveChat(() => controller.abort());
    const turn = await responsesEngineFor(server).sample(aRequest(), controller.signal);
    expect(await collect(turn)).toEqual([]);
    await server.calls[0]?.closed;
  });
});

describe("tokens", () => {
  test("are counted by the server, or estimated where it has no such endpoint, which is asked once", async () => {
    verifies("responses-engine.counts.by-the-server");
    const counting = await serveChat((response) =>
      response.end(JSON.stringify({ object: "response.input_tokens", input_tokens: 42 })),
    );
    const request = aRequest({ instructions: "Be kind." });
    expect(await responsesEngineFor(counting).countTokens(request, unaborted())).toEqual({ tokens: 42, exact: true });
    expect(counting.calls.map(({ path }) => path)).toEqual(["/v1/responses/input_tokens"]);
    expect(JSON.parse(counting.calls[0]?.body ?? "")).toEqual({
      model: "m",
      input: [{ role: "user", content: "Hi" }],
      instructions: "Be kind.",
    });
    const other = await serveChat((response) => response.writeHead(404).end());
    const engine = responsesEngineFor(other);
    const first = await engine.countTokens(request, unaborted());
    expect(first.exact).toBe(false);
    expect(first.tokens).toBeGreaterThan(3);
    expect(await engine.countTokens(request, unaborted())).toEqual(first);
    expect(await engine.estimateTokens(request, unaborted())).toBe(first.tokens);
    expect(other.calls).toHaveLength(1);
  });
});

test("the reference's own host has its abilities and defaults, which the operator may change", () => {
  const engine = responsesEngineFor({ origin: "https://api.openai.com" }, { abilities: { files: false } });
  expect(engine.abilitiesOf("gpt-5")).toEqual({
    images: true,
    imageUrls: true,
    files: false,
    audioFormats: ["mp3", "wav"],
  });
  expect(engine.reasoningDefaults("gpt-5")).toMatchObject({ effort: "medium" });
  expect(responsesEngineFor({ origin: "http://127.0.0.1:1" }).reasoningDefaults("gpt-5")).toBeNull();
});

test("models are listed, a refused model is told with a near name, and the window is that of the list", async () => {
  const server = await serveChat((response, { path }) => {
    if (path === "/v1/models") response.end('{"data":[{"id":"gpt-oss","max_model_len":4096}]}');
    else
      response
        .writeHead(404)
        .end(JSON.stringify({ error: { message: "The model 'gpt-os' does not exist.", code: "model_not_found" } }));
  });
  const engine = responsesEngineFor(server);
  expect(await engine.listModels(unaborted())).toMatchObject([{ id: "gpt-oss" }]);
  expect(await engine.contextWindow("gpt-oss", unaborted())).toBe(4096);
  expect(await engine.continuesAnswers("gpt-oss", unaborted())).toBe(false);
  const { error } = await outcomeOf(engine.sample(aRequest({ model: "gpt-os" }), unaborted()));
  expect(error).toMatchObject({ code: "model_not_found", message: expect.stringContaining("Did you mean 'gpt-oss'?") });
});
