import type { ServerResponse } from "node:http";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { type ReceivedCall, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveBehind } from "../responses/behind-upstream.ts";
import { readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { say } from "./faults.ts";

const TOO_LONG = { message: "This model's maximum context length is 1024 tokens.", code: "context_length_exceeded" };

/** A model server whose streams end empty, and which answers `plain` without a stream. */
function emptyStreams(then: "cut" | "end", { status, plain }: { readonly status: number; readonly plain: object }) {
  return (response: ServerResponse, { body }: ReceivedCall): void => {
    const asked: unknown = JSON.parse(body);
    if (isRecord(asked) && asked["stream"] === true) return say(response, [], then);
    expect(asked).not.toHaveProperty("stream_options");
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(plain));
  };
}

test.each(["cut", "end"] as const)("the error of an empty stream is asked for without a stream: %s", async (then) => {
  verifies("chat-engine.errors.empty-stream");
  const { server, create, upstream } = await serveBehind(
    emptyStreams(then, { status: 400, plain: { error: TOO_LONG } }),
    { KEEP_EXCHANGES: "stored" },
  );

  const { events, final } = await readStream(await create({ stream: true }));

  expect(events.at(-2)).toMatchObject({ type: "error", error: { code: "context_length_exceeded" } });
  expect(final).toMatchObject({ status: "failed", error: { code: "context_length_exceeded" } });
  expect(upstream.calls).toHaveLength(2);
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const statuses = async () =>
    (await client.listResponseExchanges(final.id)).data.map(({ response }) => response?.status);
  await expect.poll(statuses).toEqual([200, 400]);
});

test("an answer that comes without a stream is the answer", async () => {
  verifies("chat-engine.errors.empty-stream");
  const plain = { choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] };
  const { create } = await serveBehind(emptyStreams("end", { status: 200, plain }));
  expect(await (await create()).json()).toMatchObject({
    status: "completed",
    output: [{ content: [{ text: "Hello" }] }],
  });
});

test("the words for a stream that breaks off do not say that the server could not be reached", async () => {
  verifies("chat-engine.errors.empty-stream");
  const { create, upstream } = await serveBehind((response) => say(response, [textChunk("Half")], "cut"));
  const { events } = await readStream(await create({ stream: true }));
  expect(events.at(-2)).toMatchObject({
    error: { message: "The model server broke off in the middle of its answer." },
  });
  expect(upstream.calls).toHaveLength(1);
});
