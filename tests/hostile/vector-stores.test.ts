import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { createStore, fileOf, search, takenIn, upload } from "../vector-stores/store-client.ts";
import { verifies } from "../verifies.ts";

/** How long another client may wait meanwhile, in milliseconds. */
const STALL_MS_MAX = 2_000;

let server: TestServer;
let storeId: string;
let fileId: string;
beforeAll(async () => {
  server = await startTestServer();
  fileId = await upload(server, "foxes.txt", 'The quick fox jumps over the lazy dog. Οδυσσέας. צה"ל');
  storeId = await createStore(server, [fileId]);
  await takenIn(server, storeId);
});
afterAll(() => server.close());

async function found(query: unknown, members: object = {}): Promise<readonly string[]> {
  const reply = await server.post(`/v1/vector_stores/${storeId}/search`, { query, ...members });
  const body = await reply.json();
  expect(reply.status, JSON.stringify(body)).toBe(200);
  return body.data.map(({ filename }: { readonly filename: string }) => filename);
}

describe("questions", () => {
  verifies("vector-stores.search.text-is-no-syntax");

  test.each([
    'fox" OR "zebra',
    "NEAR(fox zebra, 2)",
    "words:fox",
    "fox*",
    "^fox",
    "-fox",
    "(fox",
    "fox AND NOT dog",
    "{words rowid}: fox",
    "'; drop table vector_stores; -- fox",
    "fox\u0000dog",
    "\ud800fox",
    "ΟΔΥΣΣΈΑΣ",
    'צה"ל',
    `${"x".repeat(100_000)} fox`,
    `${"zebra ".repeat(60)}fox`,
  ])("a question is words only: %s", async (query) => {
    expect(await found(query)).toEqual(["foxes.txt"]);
  });

  test.each(["!?…", '"', "''", "***", "🦊🦊", "\u0301", " ", "\u0000", "AND", "1x", "rowid"])(
    "a question without a word of the file finds nothing: %j",
    async (query) => {
      expect(await found(query)).toEqual([]);
    },
  );

  test("a question of a megabyte holds up nobody", async () => {
    const query = "fox jumps 東京は日本の首都です ".repeat(35_000);
    const asked = performance.now();
    const answer = found(query);
    const begun = performance.now();
    expect((await server.fetch("/v1/models")).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(STALL_MS_MAX);
    expect(await answer).toEqual(["foxes.txt"]);
    expect(performance.now() - asked).toBeLessThan(STALL_MS_MAX * 4);
  });

  test("five hundred searches at once are answered, or refused for a moment", async () => {
    const replies = await Promise.all(
      Array.from({ length: 500 }, (_, index) =>
        server.post(`/v1/vector_stores/${storeId}/search`, { query: `fox ${index}` }),
      ),
    );
    const statuses = new Set(replies.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThan(200);
    for (const { status, headers } of replies) if (status === 503) expect(headers.get("retry-after")).not.toBeNull();
    expect(await found("fox")).toEqual(["foxes.txt"]);
  });
});

test("attributes are found by any name", async () => {
  const names = ['"', "'", "$", "$.a", "__proto__", "constructor", "a.b.c", "a[0]", "", " ", "\\", "✓", "a'); --"];
  const attributes = JSON.parse(`{${names.map((name, index) => `${JSON.stringify(name)}:${index}`).join(",")}}`);
  const path = `/v1/vector_stores/${storeId}/files/${fileId}`;
  const changed = await server.post(path, { attributes });
  expect(changed.status).toBe(200);
  expect((await changed.json()).attributes).toEqual(attributes);
  expect(Object.keys((await fileOf(server, storeId, fileId)).attributes ?? {})).toEqual(names);
  for (const [value, key] of names.entries()) {
    expect(await found("fox", { filters: { type: "eq", key, value } }), key).toEqual(["foxes.txt"]);
    expect(await found("fox", { filters: { type: "eq", key, value: String(value) } }), key).toEqual([]);
    expect(await found("fox", { filters: { type: "nin", key, value: [value] } }), key).toEqual([]);
  }
  expect(await found("fox", { filters: { type: "eq", key: "toString", value: 0 } })).toEqual([]);
});

test("filters are as deep and large as promised, and no more", async () => {
  verifies("vector-stores.filters.limits");
  const eq = { type: "ne", key: "k", value: 1 };
  const nested = (levels: number): object =>
    levels === 1 ? eq : { type: "and", filters: [nested(levels - 1), nested(1)] };
  const wide = (count: number) => ({ type: "or", filters: Array.from({ length: count }, () => eq) });
  const status = async (filters: unknown): Promise<number> =>
    (await server.post(`/v1/vector_stores/${storeId}/search`, { query: "fox", filters })).status;
  expect(await found("fox", { filters: nested(10) })).toEqual(["foxes.txt"]);
  expect(await found("fox", { filters: wide(99) })).toEqual(["foxes.txt"]);
  expect(
    await found("fox", { filters: { type: "nin", key: "k", value: Array.from({ length: 1000 }, () => "x") } }),
  ).toEqual(["foxes.txt"]);
  for (const filters of [nested(11), wide(100), wide(100_000), nested(400)]) expect(await status(filters)).toBe(400);
});

test("a store without files, or with failed ones only, is searched and finds nothing", async () => {
  const empty = await createStore(server, []);
  expect(await search(server, empty, "fox")).toEqual([]);
  const broken = await createStore(server, [await upload(server, "a.bin", "\0\u0001")]);
  expect((await takenIn(server, broken)).file_counts).toMatchObject({ failed: 1 });
  expect(await search(server, broken, "fox")).toEqual([]);
});

test("a batch may name two thousand files, each once, and all must be there", async () => {
  const ids = Array.from({ length: 2001 }, (_, index) => `file-${index}`);
  const path = `/v1/vector_stores/${storeId}/file_batches`;
  expect((await server.post(path, { file_ids: ids })).status).toBe(400);
  const unknown = await server.post(path, { file_ids: [fileId, ...ids.slice(2)] });
  expect([unknown.status, (await unknown.json()).error.param]).toEqual([404, "file_ids"]);
  expect((await takenIn(server, storeId)).file_counts).toMatchObject({ completed: 1, total: 1 });
});

describe("what goes away meanwhile", () => {
  const LONG = "Foxes jump over dogs, and dogs sleep. ".repeat(20_000);

  test("a store, a file in it and an upload that are deleted while they are taken in leave nothing", async () => {
    const ids = await Promise.all(["a", "b", "c"].map((name) => upload(server, `${name}.txt`, LONG)));
    const kept = await createStore(server, ids);
    const dropped = await createStore(server, ids);
    const [first, second, third] = ids;
    const gone = [`/v1/vector_stores/${dropped}`, `/v1/vector_stores/${kept}/files/${first}`, `/v1/files/${second}`];
    for (const path of gone) expect((await server.fetch(path, { method: "DELETE" })).status).toBe(200);
    const store = await takenIn(server, kept);
    expect(store.file_counts).toMatchObject({ completed: 1, failed: 0, total: 1 });
    expect(await fileOf(server, kept, third ?? "")).toMatchObject({ status: "completed" });
    expect((await server.fetch(`/v1/vector_stores/${dropped}`)).status).toBe(404);
    expect((await search(server, kept, "foxes")).map(({ filename }) => filename)).toContain("c.txt");
  });

  test("searches find only what is whole, while files come and go", async () => {
    const id = await createStore(server, [await upload(server, "long.txt", LONG)]);
    const short = await upload(server, "short.txt", "A fox.");
    const path = `/v1/vector_stores/${id}/files`;
    for (let round = 0; round < 20; round++) {
      const adding = server.post(path, { file_id: short });
      const replies = await Promise.all([
        ...Array.from({ length: 3 }, () => server.post(`/v1/vector_stores/${id}/search`, { query: "foxes dogs" })),
        ...(round % 3 === 2 ? [server.fetch(`${path}/${short}`, { method: "DELETE" })] : []),
      ]);
      const added = await adding;
      expect(replies.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200]);
      if (added.status !== 200) expect([added.status, (await added.json()).error.param]).toEqual([404, "file_id"]);
    }
    await takenIn(server, id);
    await server.fetch(`${path}/${short}`, { method: "DELETE" });
    const names = new Set((await search(server, id, "fox")).map(({ filename }) => filename));
    expect(names).toEqual(new Set(["long.txt"]));
  });
});

test("deleting a file takes it out of every store and every search at once", async () => {
  verifies("vector-stores.files.deleted-file-leaves-every-store");
  const id = await upload(server, "badgers.txt", "Badgers dig.");
  const stores = [await createStore(server, [id]), await createStore(server, [id])];
  for (const one of stores) {
    await takenIn(server, one);
    expect(await search(server, one, "badgers")).toHaveLength(1);
  }
  const body = {
    model: "antiphon-built-in",
    input: [{ role: "user", content: [{ type: "input_file", file_id: id }] }],
  };
  expect((await server.post("/v1/responses", body)).status).toBe(200);
  expect((await server.fetch(`/v1/files/${id}`, { method: "DELETE" })).status).toBe(200);
  for (const one of stores) {
    expect(await search(server, one, "badgers")).toEqual([]);
    expect((await takenIn(server, one)).file_counts.total).toBe(0);
    expect((await server.fetch(`/v1/vector_stores/${one}/files/${id}`)).status).toBe(404);
    expect((await server.fetch(`/v1/vector_stores/${one}/files/${id}/content`)).status).toBe(404);
  }
  expect((await server.post("/v1/responses", body)).ok).toBe(false);
});
