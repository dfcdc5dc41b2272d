import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { onPostgres, query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";
import { type Answer, type EmbeddingsServer, embedded, serveEmbeddings } from "./embeddings.ts";
import { createStore, fileOf, search, takeIn, takenIn, upload } from "./store-client.ts";

async function serve(env: Readonly<Record<string, string>>): Promise<TestServer> {
  return await startTestServer({ env });
}

function using(embeddings: EmbeddingsServer, model = "hash-64"): Readonly<Record<string, string>> {
  return { EMBEDDING_BASE_URL: embeddings.url, EMBEDDING_MODEL: model };
}

test("a long file is embedded in batches of at most 64 texts, and found by meaning", async () => {
  const embeddings = await serveEmbeddings();
  const server = await serve(using(embeddings));
  const text = Array.from({ length: 6000 }, (_, index) => `Sentence ${index} about nothing at all.`).join(" ");
  const { file, storeId } = await takeIn(server, "a.txt", `${text}\n\nFoxes jump over lazy dogs.`);
  expect(file).toMatchObject({ status: "completed" });
  expect(Math.max(...embeddings.requests)).toBe(64);
  expect((await search(server, storeId, "lazy dogs jump"))[0]?.content[0]?.text).toContain("Foxes jump");
});

test("questions and passages get the prefixes of the model's family, and a change of them gives new vectors", async () => {
  verifies("vector-stores.meaning.prefixes");
  const embeddings = await serveEmbeddings();
  const common = { DATA_DIR: temporaryFolder(), API_KEYS: "a-key-of-the-test" };
  const first = await serve({ ...common, ...using(embeddings, "multilingual-e5-small") });
  const { storeId } = await takeIn(first, "a.txt", "The fox jumps.");
  expect(await search(first, storeId, "Who jumps?")).toHaveLength(1);
  expect(embeddings.texts).toEqual(["passage: The fox jumps.", "query: Who jumps?"]);
  await first.close();
  const other = { EMBEDDING_QUESTION_TEMPLATE: "Q: {text}", EMBEDDING_PASSAGE_TEMPLATE: "{text}" };
  const second = await serve({ ...common, ...using(embeddings, "multilingual-e5-small"), ...other });
  await expect.poll(() => embeddings.texts.includes("The fox jumps."), { timeout: 20_000 }).toBe(true);
  const asksAnew = async (): Promise<string | undefined> => {
    await search(second, storeId, "Who jumps?");
    return embeddings.texts.at(-1);
  };
  await expect.poll(asksAnew, { timeout: 20_000 }).toBe("Q: Who jumps?");
});

test("a template without a place for the text is refused at the start", async () => {
  const embeddings = await serveEmbeddings();
  const start = serve({ ...using(embeddings), EMBEDDING_QUESTION_TEMPLATE: "query:" });
  await expect(start).rejects.toThrow("EMBEDDING_QUESTION_TEMPLATE is 'query:', which does not end in {text}");
});

/** A word of its own for each number below 100. */
function topic(index: number): string {
  return `topic${[...String(index)].map((digit) => "abcdefghij"[Number(digit)]).join("")}`;
}

test("many small files are embedded together, and a refused text fails only its own file", async () => {
  verifies("vector-stores.intake.small-files-together");
  const embeddings = await serveEmbeddings();
  const server = await serve(using(embeddings));
  const files = 40;
  const texts = Array.from({ length: files }, (_, index) => `Note on ${index === 7 ? "poison" : topic(index)}.`);
  const ids = await Promise.all(texts.map((text, index) => upload(server, `${index}.txt`, text)));
  const release = Promise.withResolvers<null>();
  embeddings.answer = async (asked) => {
    await release.promise;
    const isRefused = asked.input.some((text) => text.includes("poison"));
    return isRefused ? { status: 400, body: "too long" } : embedded(asked);
  };
  const storeId = await createStore(server, ids);
  await expect.poll(() => embeddings.requests.length, { timeout: 20_000 }).toBe(2);
  release.resolve(null);
  expect((await takenIn(server, storeId)).file_counts).toMatchObject({ completed: files - 1, failed: 1 });
  const failed = await fileOf(server, storeId, ids[7] ?? "");
  expect(failed.last_error?.message).toContain("refused the texts");
  for (const index of [0, 23, 39])
    expect((await search(server, storeId, topic(index)))[0]?.filename).toBe(`${index}.txt`);
});

const list = (embedding: unknown): Answer => ({ body: JSON.stringify({ data: [{ index: 0, embedding }] }) });
const FAULTS: readonly (readonly [string, Answer, message: string])[] = [
  ["answers with an error", { status: 500, body: "" }, "The embedding server failed with status 500."],
  ["refuses the key", { status: 401, body: "" }, "The embedding server refused this server's key."],
  ["refuses long texts", { status: 400, body: "too long" }, "The embedding server refused the texts (400)."],
  [
    "sends no JSON",
    { body: '{"data": [{"embedding": [NaN]}]}' },
    "The embedding server sent no JSON that could be read.",
  ],
  ["sends null for numbers", list([1, null]), "The embedding server sent something that is no vector."],
  ["sends only zeros", list([0, 0]), "The embedding server sent something that is no vector."],
  ["sends numbers without end", list([1e300, 1]), "The embedding server sent something that is no vector."],
  ["sends no vectors", { body: '{"data": []}' }, "The embedding server did not send one vector for each text."],
  [
    "sends one for another text",
    { body: '{"data": [{"index": 7, "embedding": [1]}]}' },
    "The embedding server did not send one vector for each text.",
  ],
  ["sends too much", { body: `"${"x".repeat(33 * 1024 * 1024)}"` }, "The answer of the embedding server is too large."],
];

test("a file fails with a reason if the embedding server does, and the next one is taken in", async () => {
  const embeddings = await serveEmbeddings();
  const server = await serve(using(embeddings));
  for (const [name, answer, message] of FAULTS) {
    embeddings.answer = () => answer;
    const { file } = await takeIn(server, "a.txt", "The fox jumps.");
    expect(file, name).toMatchObject({ status: "failed", last_error: { code: "server_error" } });
    expect(file.last_error?.message, name).toContain(message);
  }
  embeddings.answer = null;
  expect((await takeIn(server, "a.txt", "The fox jumps.")).file.status).toBe("completed");
  embeddings.answer = ({ input }) => embedded({ model: "hash-32", input });
  expect((await takeIn(server, "a.txt", "The fox jumps.")).file.last_error?.message).toContain("changed the length");
});

test("a file fails with a reason if the embedding server never answers", async () => {
  const embeddings = await serveEmbeddings();
  const server = await serve({ ...using(embeddings), EMBEDDING_TIMEOUT_MS: "1000" });
  embeddings.answer = () => "never";
  const { file } = await takeIn(server, "a.txt", "The fox jumps.");
  expect(file.last_error?.message).toContain("The embedding server did not answer in time.");
});

test("a busy embedding server is asked again, and vectors in base64 are read", async () => {
  const embeddings = await serveEmbeddings();
  const server = await serve(using(embeddings));
  embeddings.answer = () => {
    const bytes = Buffer.from(Float32Array.from([3, 4]).buffer).toString("base64");
    return embeddings.requests.length < 3
      ? { status: embeddings.requests.length === 1 ? 429 : 503, headers: { "retry-after-ms": "10" }, body: "" }
      : list(bytes);
  };
  expect((await takeIn(server, "a.txt", "The fox jumps.")).file.status).toBe("completed");
  expect(embeddings.requests).toEqual([1, 1, 1]);
});

test("after a change of the model, files get new vectors, also those that came without", async () => {
  const embeddings = await serveEmbeddings();
  const dataDir = temporaryFolder();
  const common = { DATA_DIR: dataDir, API_KEYS: "a-key-of-the-test" };
  const plain = await startTestServer({ env: common });
  const ids = await Promise.all(["The fox jumps.", "The dog sleeps."].map((text) => upload(plain, "a.txt", text)));
  const storeId = await createStore(plain, ids);
  await takenIn(plain, storeId);
  await plain.close();
  expect(await vectorsIn(dataDir)).toEqual([]);
  for (const model of ["hash-64", "hash-32"]) {
    const server = await startTestServer({ env: { ...common, ...using(embeddings, model) } });
    const third = await upload(server, "b.txt", `Birds of ${model} sing.`);
    const added = await server.post(`/v1/vector_stores/${storeId}/files`, { file_id: third });
    expect(added.status).toBe(200);
    await takenIn(server, storeId);
    const wanted = model === "hash-64" ? [[64, 3]] : [[32, 4]];
    for (let looks = 0; looks < 500 && JSON.stringify(await vectorsIn(dataDir)) !== JSON.stringify(wanted); looks++)
      await sleep(20);
    expect(await vectorsIn(dataDir)).toEqual(wanted);
    expect((await search(server, storeId, "fox"))[0]?.content[0]?.text).toBe("The fox jumps.");
    await server.close();
  }
});

/** How many vectors the stores have of each length, as far as they are used. */
async function vectorsIn(dataDir: string): Promise<readonly (readonly [number, number])[]> {
  const rows = await query(
    dataDir,
    `select ${onPostgres ? "cardinality(vector)" : "length(vector) / 4"} as length, count(*) as count
      from vector_store_vectors group by 1 order by 1`,
  );
  return rows.map(({ length, count }) => [Number(length), Number(count)]);
}
