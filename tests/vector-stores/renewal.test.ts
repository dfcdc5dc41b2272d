import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { openTestStore } from "../../src/store/store.fixture.ts";
import { storeWith } from "../../src/store/stores/vector-stores/taken-in.fixture.ts";
import { EmbeddingServer } from "../../src/vector-stores/embeddings/embedding-server.ts";
import { NO_PREFIXES } from "../../src/vector-stores/embeddings/prefixes.ts";
import { renewVectors } from "../../src/vector-stores/ingest/renew-vectors.ts";
import { serveEmbeddings } from "./embeddings.ts";

test("the embedding server is not asked again while all files have its vectors", async () => {
  const { url, requests } = await serveEmbeddings();
  const embedder = new EmbeddingServer({
    baseUrl: url,
    apiKey: null,
    model: "hash-8",
    prefixes: NO_PREFIXES,
    timeoutMs: 5_000,
    repeatsMax: 0,
  });
  const store = await openTestStore();
  await storeWith(store, [{ texts: ["The fox jumps.", "The dog sleeps."] }]);
  const parts = { renewal: store.vectorRenewal, embedder, log: silentLogger };
  const asked: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    expect(await renewVectors(parts, new AbortController().signal)).toBe(true);
    asked.push(requests.length);
  }
  expect(requests).toEqual([1, 2]); // The length of the vectors, then those of both chunks.
  expect(asked).toEqual([2, 2, 2, 2]);
});
