import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { batchThatIs, clientOf, lineFor, linesIn, startBatch } from "../batches/batch-kit.ts";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { embeds } from "../model-servers/retrieval-servers.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { startTcpProxy } from "../services/proxy-of-test.ts";
import { databaseOfTest } from "../services/services-of-run.ts";
import { verifies } from "../verifies.ts";
import { DATABASE_TIMEOUT_MS, startNode, TEST_TIMEOUT_MS } from "./nodes.ts";

const LINES = 12;
const why = whyNoPostgres();

describe.skipIf(why !== undefined)(`the database${why === undefined ? "" : ` (${why})`}`, () => {
  test(
    "is down while lines of a batch end: when it is back they are settled, each once",
    async () => {
      verifies("batches.crash.outages");
      const direct = await databaseOfTest();
      const proxy = await startTcpProxy(direct);
      const node = await startNode(proxy.through(direct), { LEASE_MS: "30000" });
      const client = clientOf(node);
      const lines = Array.from({ length: LINES }, (_, number) =>
        lineFor("/v1/responses", `line ${number}`, { model: "antiphon-built-in", input: `slow ${number}` }),
      );
      const { id } = await startBatch(client, lines);
      const running = () => client.get<{ data: unknown[] }>("/responses?status=in_progress");
      await expect.poll(async () => (await running()).data.length, { timeout: 60_000 }).toBe(10);
      await proxy.cut();
      await sleep(2 * DATABASE_TIMEOUT_MS); // Their models have said all by now.
      await proxy.heal();
      await expect.poll(async () => (await node.fetch("/readyz")).status, { timeout: 60_000 }).toBe(200);
      const ended = await batchThatIs(client, id, "completed");
      expect(ended.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
      expect((await linesIn(client, ended.output_file_id)).size).toBe(LINES);
      const responses = await client.get<{ data: unknown[] }>("/responses?limit=100");
      expect(responses.data).toHaveLength(LINES);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "is down when the vectors of a line come: the line is made again",
    async () => {
      verifies("batches.crash.outages");
      const direct = await databaseOfTest();
      const proxy = await startTcpProxy(direct);
      const gate = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      const model = await serveChat(async (response, call) => {
        asked.resolve();
        await gate.promise;
        embeds(response, call);
      });
      const file = join(temporaryFolder(), "models.yaml");
      writeFileSync(file, `servers:\n  first: { url: "${model.origin}/v1" }\nmodels:\n  vectors: first/a\n`);
      const env = { DATABASE_URL: proxy.through(direct), DATABASE_TIMEOUT_MS: String(DATABASE_TIMEOUT_MS) };
      const node = await startChildServer({ env: { ...env, MODELS_FILE: file, LEASE_MS: "30000" } });
      const client = clientOf(node);
      const line = lineFor("/v1/embeddings", "one", { model: "vectors", input: "Hello" });
      const { id } = await startBatch(client, [line], "/v1/embeddings");
      await asked.promise;
      await proxy.cut();
      gate.resolve();
      await sleep(2 * DATABASE_TIMEOUT_MS); // It could not be settled by now, nor left to others.
      await proxy.heal();
      await expect.poll(async () => (await node.fetch("/readyz")).status, { timeout: 60_000 }).toBe(200);
      const ended = await batchThatIs(client, id, "completed");
      expect(ended.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    },
    TEST_TIMEOUT_MS,
  );
});
