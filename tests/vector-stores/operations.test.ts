import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";

const KEYS = { ours: "sk-ours-0123456789", theirs: "sk-theirs-0123456789" };
const POLL = { pollIntervalMs: 20 };
const NO_COUNTS = { in_progress: 0, completed: 0, failed: 0, cancelled: 0, total: 0 };

let server: TestServer;
let client: OpenAI;
let theirs: OpenAI;
beforeAll(async () => {
  server = await startTestServer({ env: { API_KEYS: `${KEYS.ours}=org/one,${KEYS.theirs}=org/two` } });
  const baseURL = `${server.url}/v1`;
  client = new OpenAI({ baseURL, apiKey: KEYS.ours, maxRetries: 0 });
  theirs = new OpenAI({ baseURL, apiKey: KEYS.theirs, maxRetries: 0 });
});
afterAll(() => server.close());

type Attributes = Record<string, string | number | boolean>;

interface Text {
  readonly text: string;
  readonly attributes?: Attributes;
}

async function upload(text: string, as = client): Promise<string> {
  return (await as.files.create({ file: await toFile(Buffer.from(text), "note.txt"), purpose: "assistants" })).id;
}

/** A store that holds these texts, each a file, and the ids of the files. */
async function storeOf(...texts: readonly (string | Text)[]): Promise<{ id: string; files: readonly string[] }> {
  const { id } = await client.vectorStores.create({ name: "notes" });
  const files: string[] = [];
  for (const one of texts) {
    const { text, attributes = {} } = typeof one === "string" ? { text: one } : one;
    const file_id = await upload(text);
    const file = await client.vectorStores.files.createAndPoll(id, { file_id, attributes }, POLL);
    expect(file.status).toBe("completed");
    files.push(file_id);
  }
  return { id, files };
}

type Search = OpenAI.VectorStoreSearchParams;

/** The texts that a search finds, best first. */
async function textsOf(storeId: string, search: Search): Promise<readonly (string | undefined)[]> {
  const { data } = await client.vectorStores.search(storeId, search);
  return data.map(({ content }) => content[0]?.text);
}

interface Reply {
  readonly status: number | undefined;
  readonly message: string;
  readonly param: string | null | undefined;
}

/** The error that a call rejects with; its message is without the status that the client puts before it. */
async function errorOf(call: Promise<unknown>): Promise<Reply> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error("the call was not refused");
  return { status: error.status, message: error.message.replace(/^\d+ /, ""), param: error.param };
}

test("a store made of nothing has the members of the reference", async () => {
  verifies("vector-stores.create.object-of-the-reference");
  const store = await client.vectorStores.create({});
  expect(store).toMatchObject({ object: "vector_store", name: "", description: null, metadata: {}, usage_bytes: 0 });
  expect(store).toMatchObject({ status: "completed", expires_at: null, file_counts: NO_COUNTS });
  expect(store.id).toMatch(/^vs_/);
  expect(store.last_active_at).toBe(store.created_at);
  const asked = { name: "a", metadata: { b: "c" }, expires_after: { anchor: "last_active_at", days: 2 } } as const;
  const full = await client.vectorStores.create({ ...asked, description: "d" });
  expect(full).toMatchObject({ ...asked, description: "d", expires_at: (full.last_active_at ?? 0) + 2 * 86_400 });
  expect(await client.vectorStores.retrieve(full.id)).toEqual(full);
});

test("a change takes away what is null and leaves what it does not name", async () => {
  verifies("vector-stores.modify.null-takes-away");
  const expires_after = { anchor: "last_active_at", days: 2 } as const;
  const { id } = await client.vectorStores.create({ name: "a", metadata: { b: "c" }, expires_after });
  expect(await client.vectorStores.update(id, { name: "d" })).toMatchObject({
    name: "d",
    metadata: { b: "c" },
    expires_after,
  });
  const emptied = await client.vectorStores.update(id, { name: null, metadata: null, expires_after: null });
  expect(emptied).toMatchObject({ name: "", metadata: {}, expires_at: null });
  expect(emptied).not.toHaveProperty("expires_after");
});

/** Every call that names a store, and a file or a batch in it. */
function callsOn(
  as: OpenAI,
  store: string,
  file: string,
  batch: string,
): Readonly<Record<string, () => Promise<unknown>>> {
  const inStore = { vector_store_id: store };
  const { vectorStores } = as;
  return {
    get: () => vectorStores.retrieve(store),
    modify: () => vectorStores.update(store, { name: "x" }),
    search: () => vectorStores.search(store, { query: "fox" }),
    files: () => vectorStores.files.list(store),
    add: () => vectorStores.files.create(store, { file_id: file }),
    file: () => vectorStores.files.retrieve(file, inStore),
    attributes: () => vectorStores.files.update(file, { ...inStore, attributes: {} }),
    content: () => vectorStores.files.content(file, inStore),
    remove: () => vectorStores.files.delete(file, inStore),
    "add batch": () => vectorStores.fileBatches.create(store, { file_ids: [file] }),
    batch: () => vectorStores.fileBatches.retrieve(batch, inStore),
    cancel: () => vectorStores.fileBatches.cancel(batch, inStore),
    "files of batch": () => vectorStores.fileBatches.listFiles(batch, inStore),
    delete: () => vectorStores.delete(store),
  };
}

test("on every path, a foreign store is as unknown as one that never was", async () => {
  verifies("vector-stores.get.unknown-is-404", "vector-stores.owner.foreign-is-unknown");
  const { id, files } = await storeOf("The fox jumps.");
  const [file = ""] = files;
  const batch = await client.vectorStores.fileBatches.createAndPoll(id, { file_ids: [file] }, POLL);
  for (const asked of [id, "vs_x"])
    for (const [name, call] of Object.entries(callsOn(theirs, asked, file, batch.id)))
      expect([name, await errorOf(call())]).toEqual([
        name,
        { status: 404, message: `Vector store with id '${asked}' not found.`, param: null },
      ]);
  expect((await theirs.vectorStores.list()).data).toEqual([]);
  expect(await errorOf(theirs.vectorStores.list({ after: id }))).toMatchObject({ status: 400, param: "after" });
  const foreignFile = await errorOf(theirs.vectorStores.create({ file_ids: [file] }));
  expect(foreignFile).toEqual({ status: 404, message: `No such File object: ${file}`, param: "file_ids" });
  expect(await client.vectorStores.retrieve(id)).toMatchObject({ name: "notes", file_counts: { completed: 1 } });
});

test("what is not of a store is unknown in it", async () => {
  verifies("vector-stores.get.unknown-is-404");
  const [one, other] = [await storeOf("The fox jumps."), await storeOf()];
  const [file = ""] = one.files;
  const inOther = { vector_store_id: other.id };
  const batch = await client.vectorStores.fileBatches.createAndPoll(one.id, { file_ids: [file] }, POLL);
  const noFile = {
    status: 404,
    message: `No file found with id '${file}' in vector store '${other.id}'.`,
    param: null,
  };
  expect(await errorOf(client.vectorStores.files.retrieve(file, inOther))).toEqual(noFile);
  expect(await errorOf(client.vectorStores.files.content(file, inOther))).toEqual(noFile);
  expect(await errorOf(client.vectorStores.files.delete(file, inOther))).toEqual(noFile);
  const message = `No file batch found with id '${batch.id}' in vector store '${other.id}'.`;
  const noBatch = { status: 404, message, param: null };
  expect(await errorOf(client.vectorStores.fileBatches.retrieve(batch.id, inOther))).toEqual(noBatch);
  expect(await errorOf(client.vectorStores.fileBatches.listFiles(batch.id, inOther))).toEqual(noBatch);
});

test("a client that walks the pages meets each entry once", async () => {
  verifies("vector-stores.list.order-and-pages", "vector-stores.list.files-by-status");
  const { id, files } = await storeOf("One fox.", "Two foxes.", "Three foxes.");
  const broken = await upload("\0");
  await client.vectorStores.files.createAndPoll(id, { file_id: broken }, POLL);
  const batch = await client.vectorStores.fileBatches.createAndPoll(id, { file_ids: [...files] }, POLL);
  const walk = async (pages: AsyncIterable<{ readonly id: string }>): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const entry of pages) ids.push(entry.id);
    return ids;
  };
  expect((await walk(client.vectorStores.files.list(id, { limit: 1 }))).toSorted()).toEqual(
    [...files, broken].toSorted(),
  );
  const inBatch = client.vectorStores.fileBatches.listFiles(batch.id, { vector_store_id: id, limit: 2, order: "asc" });
  expect(await walk(inBatch)).toEqual(files);
  const made = [await storeOf(), await storeOf()].map((store) => store.id);
  const stores = await walk(client.vectorStores.list({ limit: 1, order: "asc" }));
  expect(stores.slice(-2)).toEqual(made);
  expect(new Set(stores).size).toBe(stores.length);
  const { data } = await client.vectorStores.list({ before: made[0] ?? "", limit: 100 });
  expect(data.map((store) => store.id)).toEqual([made[1]]);
  expect(await walk(client.vectorStores.files.list(id, { filter: "failed" }))).toEqual([broken]);
  expect(await walk(client.vectorStores.files.list(id, { filter: "in_progress" }))).toEqual([]);
});

test("files outlive their store, and leave every store when they are deleted", async () => {
  verifies("vector-stores.delete.keeps-its-files", "vector-stores.files.deleted-file-leaves-every-store");
  const { id, files } = await storeOf("The fox jumps.", "The hare runs.");
  const [fox = "", hare = ""] = files;
  const second = await client.vectorStores.create({});
  await client.vectorStores.files.createAndPoll(second.id, { file_id: fox }, POLL);
  await client.vectorStores.files.delete(hare, { vector_store_id: id });
  expect((await client.files.retrieve(hare)).id).toBe(hare);
  expect(await textsOf(id, { query: "hare" })).toEqual([]);
  await client.files.delete(fox);
  for (const store of [id, second.id]) {
    expect((await client.vectorStores.retrieve(store)).file_counts).toEqual(NO_COUNTS);
    expect((await client.vectorStores.files.list(store)).data).toEqual([]);
    expect(await textsOf(store, { query: "fox" })).toEqual([]);
  }
  await client.vectorStores.delete(id);
  expect((await client.files.retrieve(hare)).id).toBe(hare);
});

/** Makes the store expire, as if nobody had used it for long. */
async function expire(storeId: string): Promise<void> {
  await query(server.dataDir, "update vector_stores set is_expired = 1, expires_at = 1 where id = ?", storeId);
}

test("an expired store is shown and deleted, and does nothing else", async () => {
  verifies("vector-stores.expiry.expired-is-refused", "tools.file-search.expired-store");
  const { id, files } = await storeOf("The fox jumps.");
  const [file_id = ""] = files;
  await expire(id);
  expect((await client.vectorStores.retrieve(id)).status).toBe("expired");
  expect((await client.vectorStores.files.list(id)).data.map((file) => file.id)).toEqual(files);
  const message = `Vector store with id '${id}' is expired.`;
  for (const call of [
    () => client.vectorStores.update(id, { name: "x" }),
    () => client.vectorStores.search(id, { query: "fox" }),
    () => client.vectorStores.files.create(id, { file_id }),
    () => client.vectorStores.fileBatches.create(id, { file_ids: [file_id] }),
  ])
    expect(await errorOf(call())).toEqual({ status: 400, message, param: null });
  const tools = [{ type: "file_search" as const, vector_store_ids: [id] }];
  const asked = client.responses.create({ model: "antiphon-built-in", input: "Hi", tools });
  expect(await errorOf(asked)).toEqual({ status: 400, message, param: "tools" });
  expect((await client.vectorStores.delete(id)).deleted).toBe(true);
});

test("a file that is added again is replaced", async () => {
  verifies("vector-stores.files.again-replaces");
  const { id, files } = await storeOf({ text: "The fox jumps.", attributes: { year: 1900 } });
  const [file_id = ""] = files;
  const again = await client.vectorStores.files.createAndPoll(id, { file_id, attributes: { year: 2000 } }, POLL);
  expect(again).toMatchObject({ status: "completed", attributes: { year: 2000 } });
  expect((await client.vectorStores.retrieve(id)).file_counts).toMatchObject({ completed: 1, total: 1 });
  expect(await textsOf(id, { query: "fox" })).toEqual(["The fox jumps."]);
});

test("every file leaves in_progress, and its text is the text of the file", async () => {
  verifies("vector-stores.files.polling-ends", "vector-stores.files.content", "vector-stores.files.failed-says-why");
  const { id } = await storeOf();
  const good = await client.vectorStores.files.uploadAndPoll(id, await toFile(Buffer.from("A fox."), "a.txt"), POLL);
  expect(good).toMatchObject({ status: "completed", last_error: null });
  const { data } = await client.vectorStores.files.content(good.id, { vector_store_id: id });
  expect(data).toEqual([{ type: "text", text: "A fox." }]);
  const bad = await client.vectorStores.files.uploadAndPoll(id, await toFile(Buffer.from("%PDF-1"), "a.pdf"), POLL);
  expect(bad).toMatchObject({ status: "failed", last_error: { code: "invalid_file" } });
  expect(bad.last_error?.message).toMatch(/^The file .+\.$/);
});

test("a file is cut as its strategy says", async () => {
  verifies("vector-stores.chunking.strategies");
  const text = Array.from({ length: 2000 }, (_, index) => `Word${index} is here.`).join(" ");
  const { id } = await storeOf();
  const sizes = { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 };
  const ways = {
    cut: { type: "static", static: sizes },
    auto: { type: "auto" },
  } as const;
  const lengths: number[] = [];
  for (const chunking_strategy of Object.values(ways)) {
    const file_id = await upload(text);
    const file = await client.vectorStores.files.createAndPoll(id, { file_id, chunking_strategy }, POLL);
    const shown = { type: "static", static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 } };
    expect(file.chunking_strategy).toEqual(chunking_strategy.type === "auto" ? shown : ways.cut);
    const [found = ""] = await textsOf(id, { query: "Word777", max_num_results: 1 });
    expect(found).toContain("Word777");
    lengths.push(found.length);
    await client.vectorStores.files.delete(file_id, { vector_store_id: id });
  }
  const [short = 0, long = 0] = lengths;
  expect(short * 2).toBeLessThan(long);
});

test("new attributes count in the next search", async () => {
  verifies("vector-stores.attributes.update");
  const { id, files } = await storeOf({ text: "The fox jumps.", attributes: { year: 1900, kind: "a" } });
  const [file = ""] = files;
  const changed = await client.vectorStores.files.update(file, { vector_store_id: id, attributes: { year: 2000 } });
  expect(changed.attributes).toEqual({ year: 2000 });
  const ofYear = (value: number) => ({ query: "fox", filters: { type: "eq" as const, key: "year", value } });
  expect(await textsOf(id, ofYear(1900))).toEqual([]);
  expect(await textsOf(id, ofYear(2000))).toEqual(["The fox jumps."]);
});

test("a batch counts its files, and one that is over cannot be cancelled", async () => {
  verifies("vector-stores.batches.counts", "vector-stores.batches.cancel");
  const { id } = await storeOf();
  const file_ids = [await upload("A fox."), await upload("\0"), await upload("A hare.")];
  const batch = await client.vectorStores.fileBatches.createAndPoll(id, { file_ids }, POLL);
  const over = {
    status: "completed",
    file_counts: { in_progress: 0, completed: 2, failed: 1, cancelled: 0, total: 3 },
  };
  expect(batch).toMatchObject(over);
  expect(await client.vectorStores.fileBatches.cancel(batch.id, { vector_store_id: id })).toMatchObject(over);
});

test("filters come before the ranks and never convert", async () => {
  verifies("vector-stores.filters.before-ranking", "vector-stores.filters.types-never-convert");
  const many = Array.from({ length: 12 }, () => ({ text: "Fox fox fox fox.", attributes: { year: "1900" } }));
  const { id } = await storeOf(...many, { text: "A fox of another year.", attributes: { year: 1900 } }, "No fox year.");
  const find = (type: "eq" | "ne" | "gte", value: number) =>
    textsOf(id, { query: "fox", max_num_results: 2, filters: { type, key: "year", value } });
  expect(await find("eq", 1900)).toEqual(["A fox of another year."]);
  expect(await find("gte", 0)).toEqual(["A fox of another year."]);
  const { data } = await client.vectorStores.search(id, {
    query: "fox",
    max_num_results: 50,
    filters: { type: "ne", key: "year", value: 1900 },
  });
  expect(data).toHaveLength(13);
});

test("a search answers with one page, best first", async () => {
  verifies("vector-stores.search.page", "vector-stores.search.score-scale", "vector-stores.search.rankers");
  const { id, files } = await storeOf("Fox and fox.", "A fox met a very long list of other animals.", "A hare.");
  const { data } = await client.vectorStores.search(id, { query: "fox" });
  expect(data.map((result) => result.file_id)).toEqual(files.slice(0, 2));
  expect(data[0]).toMatchObject({
    filename: "note.txt",
    attributes: {},
    content: [{ type: "text", text: "Fox and fox." }],
  });
  const [first = 0, second = 0] = data.map(({ score }) => score);
  expect(first).toBeLessThan(1);
  expect(first).toBeGreaterThan(second);
  expect(second).toBeGreaterThan(0);
  const score_threshold = (first + second) / 2;
  expect(await textsOf(id, { query: "fox", ranking_options: { score_threshold } })).toEqual(["Fox and fox."]);
  expect(await textsOf(id, { query: "fox", max_num_results: 1 })).toEqual(["Fox and fox."]);
  for (const ranker of ["none", "auto", "default-2024-11-15"] as const)
    expect((await client.vectorStores.search(id, { query: "fox", ranking_options: { ranker } })).data).toEqual(data);
});

test("a threshold of 0.2 leaves what a store of two files says of the question", async () => {
  verifies("vector-stores.search.score-scale");
  const { id } = await storeOf("The harbour opens at six.", "The museum is closed on Mondays.");
  const ranking_options = { score_threshold: 0.2 };
  const texts = await textsOf(id, { query: "Which harbour?", ranking_options });
  expect(texts).toEqual(["The harbour opens at six."]);
});

test("several questions are searched together and repeated as they were", async () => {
  verifies("vector-stores.search.several-questions", "vector-stores.search.queries-are-echoed");
  const { id } = await storeOf("A fox and a hare.", "A hare.", "A mole.");
  const questions = ["fox", "hare"];
  const page = await server.fetch(`/v1/vector_stores/${id}/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.ours}`, "content-type": "application/json" },
    body: JSON.stringify({ query: questions, rewrite_query: true }),
  });
  expect(await page.json()).toMatchObject({ search_query: questions, has_more: false, next_page: null });
  const texts = await textsOf(id, { query: questions });
  expect(new Set(texts)).toEqual(new Set(["A fox and a hare.", "A hare."]));
  expect(texts).toHaveLength(2);
});

test("neighbouring pieces that overlap are found as one text", async () => {
  verifies("vector-stores.search.overlaps-are-joined");
  const { id } = await storeOf();
  const file_id = await upload(
    Array.from({ length: 60 }, (_, index) => `Fox number ${index} jumps over it.`).join(" "),
  );
  const chunking_strategy = {
    type: "static" as const,
    static: { max_chunk_size_tokens: 100, chunk_overlap_tokens: 50 },
  };
  await client.vectorStores.files.createAndPoll(id, { file_id, chunking_strategy }, POLL);
  const texts = await textsOf(id, { query: "fox", max_num_results: 50 });
  for (let index = 0; index < 60; index++)
    expect(texts.filter((text) => text?.includes(`number ${index} jumps`)).length).toBeLessThanOrEqual(1);
});

test.each(['fox" OR "hare', "fox) OR {place}:s1", "fox*", "NEAR(fox hare)", "'; drop table vector_stores; --", "%_\\"])(
  "%s is no syntax",
  async (question) => {
    verifies("vector-stores.search.text-is-no-syntax");
    const { id } = await storeOf({ text: "The fox jumps.", attributes: { [question]: question } });
    const texts = await textsOf(id, { query: question });
    expect(texts.length).toBeLessThanOrEqual(1);
    expect(await textsOf(id, { query: "fox", filters: { type: "eq", key: question, value: question } })).toHaveLength(
      1,
    );
  },
);
