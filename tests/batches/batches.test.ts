import { expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { batchThatIs, clientOf, lineFor, linesIn, repeating, startBatch } from "./batch-kit.ts";

const MODEL = "antiphon-built-in";

test("a batch of responses ends with a line for each request", async () => {
  verifies("batches.operations.object-of-the-reference", "batches.output.files");
  const client = clientOf(await startTestServer());
  const begun = await startBatch(client, repeating(25));
  expect(begun).toMatchObject({ object: "batch", status: "validating", endpoint: "/v1/responses" });
  const ended = await batchThatIs(client, begun.id, "completed");
  expect(ended.request_counts).toEqual({ total: 25, completed: 25, failed: 0 });
  expect(ended.model).toBe(MODEL);
  expect(ended.error_file_id).toBeUndefined();
  expect(ended.expires_at).toBe(ended.created_at + 86_400);
  const lines = await linesIn(client, ended.output_file_id);
  expect(lines.size).toBe(25);
  const body = lines.get("line-7")?.response?.body;
  expect(JSON.stringify(body?.["output"])).toContain("text 7");
  expect(body).toMatchObject({ object: "response", background: false, store: true });
  // Each is a stored response of its own.
  expect((await client.responses.retrieve(String(body?.["id"]))).output_text).toContain("text 7");
  const tokens = [...lines.values()].map(({ response }) => Number(Object(response?.body["usage"]).total_tokens));
  expect(ended.usage?.total_tokens).toBe(tokens.reduce((sum, one) => sum + one, 0));
  expect((await client.batches.list()).data.map(({ id }) => id)).toEqual([ended.id]);
});

test("chat completions and messages are answered in their own forms", async () => {
  verifies("batches.lines.endpoints");
  const client = clientOf(await startTestServer());
  const messages = [{ role: "user", content: "Repeat this: high tide" }];
  const chat = await startBatch(
    client,
    [lineFor("/v1/chat/completions", "chat", { model: MODEL, messages, n: 2 })],
    "/v1/chat/completions",
  );
  const anthropic = await startBatch(
    client,
    [lineFor("/v1/messages", "message", { model: MODEL, messages, max_tokens: 100 })],
    "/v1/messages",
  );
  const chatLines = await linesIn(client, (await batchThatIs(client, chat.id, "completed")).output_file_id);
  expect(chatLines.get("chat")?.response).toMatchObject({
    status_code: 200,
    body: { object: "chat.completion", choices: [{ index: 0 }, { index: 1 }] },
  });
  const { output_file_id, usage } = await batchThatIs(client, anthropic.id, "completed");
  expect((await linesIn(client, output_file_id)).get("message")?.response?.body).toMatchObject({
    type: "message",
    content: [{ type: "text", text: expect.stringContaining("high tide") }],
  });
  expect(usage?.output_tokens).toBeGreaterThan(0);
});

test("lines that fail are in the error file, with the error that they would have had over HTTP", async () => {
  verifies("batches.output.errors-by-line");
  const client = clientOf(await startTestServer());
  const { id } = await startBatch(client, [
    ...repeating(1),
    lineFor("/v1/responses", "unknown member", { model: MODEL, input: "Hi", wrong: 1 }),
    lineFor("/v1/responses", "no such response", { model: MODEL, input: "Hi", previous_response_id: "resp_0" }),
    lineFor("/v1/responses", "stream", { model: MODEL, input: "Hi", stream: true }),
  ]);
  const ended = await batchThatIs(client, id, "completed");
  expect(ended.request_counts).toEqual({ total: 4, completed: 1, failed: 3 });
  expect([...(await linesIn(client, ended.output_file_id)).keys()]).toEqual(["line-0"]);
  const lines = await linesIn(client, ended.error_file_id);
  const shown = (name: string) => lines.get(name)?.response;
  expect(shown("unknown member")).toMatchObject({ status_code: 400, body: { error: { code: "unknown_parameter" } } });
  expect(shown("no such response")?.status_code).toBe(400);
  expect(shown("stream")).toMatchObject({ status_code: 400, body: { error: { param: "stream" } } });
});
