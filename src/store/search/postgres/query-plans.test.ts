import { setTimeout as sleep } from "node:timers/promises";
import type { FileSearchFilter } from "@antiphon/contracts/responses-api/types.ts";
import { Kysely, sql } from "kysely";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { whyNoPostgres } from "../../../../tests/services/postgres-server.ts";
import { databaseOfTest } from "../../../../tests/services/services-of-run.ts";
import { openPostgresPool } from "../../database/postgres/connections.ts";
import { postgresDialect } from "../../database/postgres/postgres-dialect.ts";
import type { Database } from "../../database/schema.ts";
import { openStore, type Store } from "../../open-store.ts";
import { temporaryFile } from "../../store.fixture.ts";
import { OURS } from "../../stored-shapes.fixture.ts";
import { chunksOf, storeWith, upload } from "../../stores/vector-stores/taken-in.fixture.ts";
import { ChunkSearch } from "../chunk-search.ts";
import { VectorCache } from "../vector-scores.ts";
import { PostgresChunkIndex } from "./postgres-chunk-index.ts";

const MODEL = { name: "test", dimensions: 2 };
const CHUNKING = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };
const CHUNKS = 6_000;
const WORDS_OF_CHUNK = 40;
const DIFFERENT_WORDS = 5_000;
/** Words of these fixtures consist of letters only. */
const DIGITS = "abcdefghij";
/** Tables that grow with what is stored. */
const LARGE =
  /^(files|containers|container_files|owner_usage_changes|vector_stores|vector_store_(files|batches|chunks|words|vectors))$/;
/** Asked once after a change of the model, about all stores that lack it. */
const MEANT = /from "vector_stores" where "is_expired" = \$1 and \("model_number" is null/;
const EXPLAINED = /^\s*(select|insert|update|delete|with)\b/i;

interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly Plans?: readonly PlanNode[];
}

describe.skipIf(whyNoPostgres() !== undefined)("in PostgreSQL", () => {
  test("no query of vector stores, files, containers and quotas has to read a whole table", async () => {
    const url = await databaseOfTest();
    const asked = watchQueries();
    const store = await openStore({
      file: temporaryFile(),
      databaseUrl: url,
      ownerBytesMax: 1e9,
      vectorStoreBytesMax: 1e9,
    });
    await useStore(store, url);
    await store.close();
    const statements = [...new Map(asked().map((one) => [one.text, one])).values()].filter(({ text }) =>
      EXPLAINED.test(text),
    );
    expect(statements.length).toBeGreaterThan(50);
    // With the first setting a table is read from end to end only if no index serves.
    const plans = await explain(url, statements, "set enable_seqscan = off; set plan_cache_mode = force_generic_plan");
    const whole = plans.flatMap(({ text, nodes }) =>
      nodes
        .filter(
          (node) => node["Node Type"] === "Seq Scan" && LARGE.test(node["Relation Name"] ?? "") && !MEANT.test(text),
        )
        .map((node) => ({ table: node["Relation Name"], text })),
    );
    expect(whole).toEqual([]);
  });

  test("a search among much of others reads by indexes only, as PostgreSQL plans it itself", async () => {
    const url = await databaseOfTest();
    const store = await openStore({ file: temporaryFile(), databaseUrl: url });
    onTestFinished(() => store.close());
    const texts = Array.from({ length: CHUNKS }, (_, index) => `tide moon ${otherWords(index)}`);
    await storeWith(store, [{ texts, vectors: texts.map(() => [0, 1]) }], {
      owner: { organization: "other", project: "other" },
      model: MODEL,
    });
    const id = await storeWith(store, [{ texts: ["tide moon"], vectors: [[1, 0]] }], { model: MODEL });
    const asked = watchQueries();
    const db = openDatabase(url);
    await sql`analyze`.execute(db);
    const search = new ChunkSearch(db, new PostgresChunkIndex(db), new VectorCache(1e6));
    const scope = { owner: OURS, storeIds: [id], filter: null };
    const question = {
      words: [["tide"], ["moon"]],
      stopWords: [],
      vectors: [{ model: MODEL, vector: Float32Array.from([1, 0]), commonShare: 0.4 }],
    };
    const found = await search.find(scope, [question], 10);
    expect(found.type === "found" ? found.chunks.map(({ text }) => text) : []).toEqual(["tide moon"]);
    const searched = asked().filter(({ text }) => EXPLAINED.test(text));
    const nodes: PlanNode[] = [];
    // PostgreSQL plans for the values at hand, or once for all.
    for (const mode of ["force_custom_plan", "force_generic_plan"])
      for (const plan of await explain(url, searched, `set plan_cache_mode = ${mode}`)) nodes.push(...plan.nodes);
    const indexes = new Set(nodes.map((node) => node["Index Name"]));
    for (const index of ["vector_store_words_by_word", "vector_store_vectors_by_key", "vector_store_chunks_pkey"])
      expect(indexes).toContain(index);
    const read = nodes.filter((node) => node["Node Type"] === "Seq Scan").map((node) => node["Relation Name"]);
    expect(read.filter((table) => /_(words|vectors|chunks)$/.test(table ?? ""))).toEqual([]);
  });
});

/** Some words that are only in some chunks. */
function otherWords(index: number): string {
  const words = Array.from({ length: WORDS_OF_CHUNK }, (_, k) => ((index + 1) * (k + 7) * 7919) % DIFFERENT_WORDS);
  return words
    .map((number) => `w${number.toString().replaceAll(/\d/g, (digit) => DIGITS[Number(digit)] ?? "")}`)
    .join(" ");
}

function openDatabase(url: string): Kysely<Database> {
  const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool({ url, timeoutMs: 30_000 }, 1)) });
  onTestFinished(() => db.destroy());
  return db;
}

/** Notes the statements of this thread. */
function watchQueries(): () => readonly Asked[] {
  const query = vi.spyOn(pg.Client.prototype, "query");
  onTestFinished(() => query.mockRestore());
  return () =>
    query.mock.calls.flatMap(([first]: readonly unknown[]) =>
      typeof first === "object" && first !== null && "text" in first && typeof first.text === "string"
        ? [{ text: first.text, values: "values" in first && Array.isArray(first.values) ? first.values : [] }]
        : [],
    );
}

async function explain(url: string, statements: readonly Asked[], settings: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(settings);
  const plans: { readonly text: string; readonly nodes: readonly PlanNode[] }[] = [];
  for (const [index, { text, values }] of statements.entries()) {
    await client.query(`prepare plan_${index} as ${text}`);
    const given = values.map((value) => literalOf(value)).join(", ");
    const { rows } = await client.query<{ readonly "QUERY PLAN": readonly { readonly Plan: PlanNode }[] }>(
      `explain (format json) execute plan_${index}${given === "" ? "" : `(${given})`}`,
    );
    plans.push({ text, nodes: (rows[0]?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => nodesOf(Plan)) });
  }
  await client.end();
  return plans;
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** A value as SQL; bytes are not needed for a plan. */
function literalOf(value: unknown): string {
  if (Array.isArray(value)) {
    const elements = value.map((each) => (each === null ? "null" : JSON.stringify(`${each}`)));
    return pg.escapeLiteral(`{${elements.join(",")}}`);
  }
  return typeof value === "string" || typeof value === "number" ? pg.escapeLiteral(`${value}`) : "null";
}

/** Does everything that vector stores, files, containers and their upkeep do. */
async function useStore(store: Store, url: string): Promise<void> {
  const { vectorStores, ingestQueue, vectorRenewal } = store;
  const page = { limit: 1, order: "asc", after: null, before: null, status: null, batchId: null } as const;
  const files = [await upload(store, "a.txt"), await upload(store, "b.txt"), await upload(store, "c.txt")];
  const id = await storeWith(
    store,
    [
      {
        texts: ["tide moon", "sun"],
        vectors: [
          [1, 0],
          [0, 1],
        ],
      },
    ],
    { model: MODEL },
  );
  const inStore = (fileId: string) => ({ fileId, attributes: { year: 2025 }, chunking: CHUNKING });
  await vectorStores.addFile(OURS, id, inStore(files[0] ?? ""));
  const batch = await vectorStores.addBatch(OURS, id, files.slice(1).map(inStore));
  const batchId = batch.type === "added" ? batch.result.id : "";
  await vectorStores.listStores(OURS, { ...page, after: id });
  await vectorStores.listFiles(OURS, id, { ...page, after: files[0] ?? "", status: "completed" });
  await vectorStores.listFiles(OURS, id, { ...page, batchId });
  await vectorStores.changeStore(OURS, id, { name: "a" });
  await vectorStores.changeAttributes(OURS, id, files[0] ?? "", { lang: "en" });
  const task = await ingestQueue.claim();
  if (task !== null) {
    await ingestQueue.addChunks(task, chunksOf({ texts: ["tide"] }), null);
    await ingestQueue.release(task, "fault");
  }
  const failing = await ingestQueue.claim();
  if (failing !== null)
    await ingestQueue.finish(failing, { type: "failed", error: { code: "server_error", message: "" } });
  await ingestQueue.count();
  await vectorStores.cancelBatch(OURS, id, batchId);
  const stale = await vectorRenewal.findStale("new", 2, 0);
  const model = { name: "new", dimensions: 2 };
  if (stale !== null) {
    const chunks = await vectorRenewal.readChunks(stale, model, 10);
    await vectorRenewal.addVectors(
      stale,
      model,
      chunks.map(({ key }) => ({ key, vector: Float32Array.from([1, 0]) })),
    );
    await vectorRenewal.finishFile(stale, model);
  }
  await vectorRenewal.switchStores(model);
  while (await vectorRenewal.eraseOld());
  await useSearch(url, id);
  await store.chunks.touch({ owner: OURS, storeIds: [id] });
  await vectorStores.readFile(OURS, id, files[0] ?? "");
  await vectorStores.removeFile(OURS, id, files[0] ?? "");
  await store.files.listFiles(OURS, { limit: 1, order: "asc", after: files[0] ?? "", purpose: null });
  await store.files.deleteFile(OURS, files[1] ?? "");
  await store.files.deleteExpired(1);
  await useContainers(store);
  await vectorStores.expireUnused(4e9);
  await vectorStores.deleteStore(OURS, id);
  while (await vectorStores.expireUnused(0)) await sleep(0);
}

/** In this thread, where it can be watched. */
async function useSearch(url: string, id: string): Promise<void> {
  const db = openDatabase(url);
  const search = new ChunkSearch(db, new PostgresChunkIndex(db), new VectorCache(1e6));
  const filter: FileSearchFilter = {
    type: "and",
    filters: [
      { type: "eq", key: "a", value: 1 },
      { type: "gt", key: "b", value: "c" },
    ],
  };
  const question = {
    words: [["tide"], ["moon"]],
    stopWords: [],
    vectors: [{ model: { name: "new", dimensions: 2 }, vector: Float32Array.from([1, 0]), commonShare: 0 }],
  };
  for (const each of [null, filter]) await search.find({ owner: OURS, storeIds: [id], filter: each }, [question], 10);
  await search.modelsOf({ owner: OURS, storeIds: [id] });
  await search.languagesOf({ owner: OURS, storeIds: [id] });
}

async function useContainers({ containers, sessionContainers }: Store): Promise<void> {
  const page = { limit: 1, order: "asc", after: null } as const;
  const created = await containers.createContainer(OURS, {
    name: "a",
    fileIds: [],
    expiresAfterMinutes: 1,
    memoryLimit: "1g",
  });
  const id = created.type === "changed" ? created.result.id : "";
  for (const filename of ["a", "b", "a"]) await containers.addFile(OURS, id, { filename, content: bytes() });
  const first = (await containers.listFiles(OURS, id, page))?.entries[0]?.id ?? "";
  await containers.listFiles(OURS, id, { ...page, after: first });
  await containers.removeFile(OURS, id, first);
  await containers.copyMissingUploads(OURS, id, ["file-1"]);
  await sessionContainers.begin(OURS, id, "session");
  await containers.touchContainer(OURS, id);
  await containers.listContainers(OURS, { ...page, name: "a", after: id });
  while (await containers.expireUnused(Math.floor(Date.now() / 1000) + 7 * 86_400));
}

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("a");
}
