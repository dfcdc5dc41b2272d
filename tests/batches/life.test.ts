import OpenAI from "openai";
import { expect, test } from "vitest";
import { serveModel } from "../crash/lives.ts";
import { startTestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { embeds, numbersOf } from "../model-servers/retrieval-servers.ts";
import { serveSeveral } from "../model-servers/several-servers.ts";
import { verifies } from "../verifies.ts";
import { startReceiver } from "../webhooks/receiver.ts";
import { endpoint, startWebhookServer } from "../webhooks/webhook-server.ts";
import { batchThatIs, clientOf, lineFor, linesIn, repeating, startBatch, upload } from "./batch-kit.ts";

const WINDOW = { endpoint: "/v1/responses", completion_window: "24h" } as const;

/** A server whose model answers `wait` when it is released. */
async function serveWaiting(env: Readonly<Record<string, string>> = {}) {
  const model = await serveModel();
  const server = await startTestServer({ env: { MODEL_BASE_URL: model.url, ...env } });
  return { model, server, client: clientOf(server) };
}

function waiting(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) =>
    lineFor("/v1/responses", `line ${number}`, { model: "m", input: "wait" }),
  );
}

test("a cancelled batch begins no further line, and keeps the answers of those that had begun", async () => {
  verifies("batches.ends.cancelled");
  const { client, model } = await serveWaiting({ BATCH_LINES_MAX: "2" });
  const { id } = await startBatch(client, waiting(5));
  await expect.poll(() => model.turns()).toBe(2);
  expect(await client.batches.cancel(id)).toMatchObject({ status: "cancelling" });
  model.release();
  const ended = await batchThatIs(client, id, "cancelled");
  expect(ended.request_counts).toEqual({ total: 5, completed: 2, failed: 0 });
  expect((await linesIn(client, ended.output_file_id)).size).toBe(2);
  const left = await linesIn(client, ended.error_file_id);
  expect([...left.values()].map(({ response, error }) => [response, error?.code])).toEqual(
    Array.from({ length: 3 }, () => [null, "batch_cancelled"]),
  );
  expect(model.turns()).toBe(2);
  // One that is over is returned as it is.
  expect(await client.batches.cancel(id)).toEqual(ended);
});

test("a batch whose time is over ends as expired, with the answers that it has", async () => {
  verifies("batches.ends.expired");
  const { client, model, server } = await serveWaiting({ BATCH_LINES_MAX: "2" });
  const { id } = await startBatch(client, waiting(5));
  await expect.poll(() => model.turns()).toBe(2);
  await query(server.dataDir, "update batches set expires_at = created_at");
  await batchThatIs(client, id, "finalizing");
  model.release();
  const ended = await batchThatIs(client, id, "expired");
  expect(ended.expired_at).toBeGreaterThanOrEqual(ended.created_at);
  expect(ended.request_counts).toEqual({ total: 5, completed: 2, failed: 0 });
  const left = await linesIn(client, ended.error_file_id);
  expect([...left.values()].map(({ error }) => error?.code)).toEqual(Array.from({ length: 3 }, () => "batch_expired"));
});

test("a file with faults fails the batch before any line is begun, and each fault names its line", async () => {
  verifies("batches.input.checked");
  const client = clientOf(await startTestServer());
  const body = { model: "antiphon-built-in", input: "Hi" };
  const { id } = await startBatch(client, [
    ...repeating(1),
    "no json",
    lineFor("/v1/responses", "line-0", body),
    lineFor("/v1/chat/completions", "other url", body),
    "",
    JSON.stringify({ custom_id: "get", method: "GET", url: "/v1/responses", body }),
    JSON.stringify({ custom_id: "no body", method: "POST", url: "/v1/responses" }),
    JSON.stringify({ method: "POST", url: "/v1/responses", body }),
  ]);
  const failed = await batchThatIs(client, id, "failed");
  expect(failed.errors?.data?.map(({ line, code }) => [line, code])).toEqual([
    [2, "invalid_json_line"],
    [3, "duplicate_custom_id"],
    [4, "mismatched_url"],
    [6, "invalid_method"],
    [7, "missing_required_parameter"],
    [8, "invalid_value"],
  ]);
  expect(failed).toMatchObject({ request_counts: { total: 0 } });
  const empty = await startBatch(client, [""]);
  expect((await batchThatIs(client, empty.id, "failed")).errors?.data).toMatchObject([{ code: "empty_file" }]);
  const tooMany = await startBatch(client, repeating(50_001));
  expect((await batchThatIs(client, tooMany.id, "failed")).errors?.data).toMatchObject([{ code: "too_many_lines" }]);
});

test("only files for batches are taken, and the same key makes one batch", async () => {
  verifies("batches.create.refused", "batches.create.once");
  const client = clientOf(await startTestServer());
  await expect(client.batches.create({ ...WINDOW, input_file_id: "file-0" })).rejects.toMatchObject({ status: 404 });
  const file = await OpenAI.toFile(Buffer.from("{}"), "a.jsonl");
  const { id } = await client.files.create({ file, purpose: "user_data" });
  const refused = client.batches.create({ ...WINDOW, input_file_id: id });
  await expect(refused).rejects.toMatchObject({ status: 400, param: "input_file_id" });
  const completions = client.batches.create({ ...WINDOW, input_file_id: id, endpoint: "/v1/completions" });
  await expect(completions).rejects.toMatchObject({ status: 400, param: "endpoint", code: "invalid_value" });
  await expect(client.batches.retrieve("batch_0")).rejects.toMatchObject({ status: 404 });
  await expect(client.batches.cancel("batch_0")).rejects.toMatchObject({ status: 404 });
  const wanted = { ...WINDOW, input_file_id: await upload(client, repeating(1)), metadata: { for: "test" } };
  const create = () => client.batches.create(wanted, { headers: { "Idempotency-Key": "one" } });
  const [first, second] = [await create(), await create()];
  expect(second.id).toBe(first.id);
  expect(second.metadata).toEqual({ for: "test" });
});

test("answers that are not to be stored are in the output file only", async () => {
  verifies("batches.lines.unstored");
  const server = await startTestServer();
  const client = clientOf(server);
  const { id } = await startBatch(client, repeating(3, { store: false }));
  const { output_file_id } = await batchThatIs(client, id, "completed");
  const [line] = (await linesIn(client, output_file_id)).values();
  expect(line?.response?.body).toMatchObject({ store: false, status: "completed" });
  await expect.poll(() => query(server.dataDir, "select id from responses")).toEqual([]);
});

test("embeddings are made in a batch", async () => {
  verifies("batches.lines.endpoints");
  const { server } = await serveSeveral({ first: embeds }, "  vectors: first/a");
  const client = clientOf(server);
  const lines = ["Hello", "you"].map((input) => lineFor("/v1/embeddings", input, { model: "vectors", input }));
  const { id } = await startBatch(client, lines, "/v1/embeddings");
  const ended = await batchThatIs(client, id, "completed");
  expect(ended.usage?.input_tokens).toBe(2);
  const { response } = (await linesIn(client, ended.output_file_id)).get("Hello") ?? {};
  expect(response?.body).toMatchObject({ object: "list", data: [{ embedding: numbersOf("Hello") }] });
});

test("a line whose server is away for a moment is tried again", async () => {
  verifies("batches.lines.passing-faults");
  let calls = 0;
  const away: typeof embeds = (response, call) =>
    ++calls <= 1 ? void response.writeHead(503).end() : embeds(response, call);
  const { server } = await serveSeveral({ first: away }, "  vectors: first/a");
  const client = clientOf(server);
  const line = lineFor("/v1/embeddings", "one", { model: "vectors", input: "Hello" });
  const { id } = await startBatch(client, [line], "/v1/embeddings");
  expect(await batchThatIs(client, id, "completed")).toMatchObject({ request_counts: { completed: 1, failed: 0 } });
});

test("other responses come first: each takes the place of a line", async () => {
  verifies("batches.priority.others-first", "batches.priority.lines-at-once");
  const { client, model } = await serveWaiting({ BATCH_LINES_MAX: "3" });
  const others = await Promise.all(
    Array.from({ length: 2 }, () => client.responses.create({ model: "m", input: "wait", stream: true })),
  );
  const { id } = await startBatch(client, waiting(6));
  const running = async () =>
    (await client.get<{ data: unknown[] }>("/responses?status=in_progress&background=true")).data;
  await expect.poll(async () => (await running()).length).toBe(1);
  expect(model.turns()).toBe(3);
  for (const other of others) other.controller.abort();
  await expect.poll(async () => (await running()).length, { timeout: 20_000 }).toBe(3);
  model.release();
  expect(await batchThatIs(client, id, "completed")).toMatchObject({ request_counts: { completed: 6 } });
});

test("webhooks tell of the end of a batch, and not of its responses", async () => {
  verifies("batches.ends.webhooks");
  const { client } = await startWebhookServer();
  const receiver = await startReceiver();
  const { signing_secret } = await endpoint(
    client,
    receiver,
    "batch.completed",
    "batch.failed",
    "batch.cancelled",
    "batch.expired",
    "response.completed",
  );
  const good = await startBatch(client, repeating(3));
  const { headers, body } = await receiver.arrival(0);
  const event = await client.webhooks.unwrap(body, headers, signing_secret);
  expect(event).toMatchObject({ type: "batch.completed", data: { id: good.id } });
  const bad = await startBatch(client, ["no json"]);
  expect((await receiver.arrival(1)).event).toMatchObject({ type: "batch.failed", data: { id: bad.id } });
  // A background response comes behind what would have been told of the lines.
  const { id } = await client.responses.create({ model: "antiphon-built-in", input: "Hi", background: true });
  expect((await receiver.arrival(2)).event).toMatchObject({ type: "response.completed", data: { id } });
  expect(receiver.arrivals).toHaveLength(3);
});

test("the lines left of a revoked key fail, and a file is not needed once its lines were checked", async () => {
  verifies("batches.lines.key-and-file");
  const { client, model } = await serveWaiting({ BATCH_LINES_MAX: "1" });
  const { value, id: keyId } = await client.post<{ value: string; id: string }>("/organization/keys", {
    body: { name: "short", projects: ["default/default"] },
  });
  const owner = client.withOptions({ apiKey: value });
  const { id, input_file_id } = await startBatch(owner, waiting(2));
  await expect.poll(() => model.turns()).toBe(1);
  await client.files.delete(input_file_id);
  await client.delete(`/organization/keys/${keyId}`);
  model.release();
  const ended = await batchThatIs(client, id, "completed");
  expect(ended.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
  const [line] = (await linesIn(client, ended.error_file_id)).values();
  expect(line?.response).toMatchObject({ status_code: 401, body: { error: { code: "invalid_api_key" } } });
});
