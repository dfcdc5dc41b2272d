import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewStoreFile } from "@antiphon/domain/vector-stores.ts";
import { openStore, type Store } from "../../../src/store/open-store.ts";
import type { IndexedChunk, VectorModel } from "../../../src/vector-stores/ports/chunks.ts";
import type { IngestTask } from "../../../src/vector-stores/ports/ingest.ts";
import { startPostgres, whyNoPostgres } from "../../../tests/services/postgres-server.ts";
import { cleanUp, removeFolder } from "../clean-up.ts";

export const OWNER = { organization: "bench", project: "bench" };
const CHUNKING = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };

/** The databases that can be measured here. PostgreSQL is left out, visibly, where it cannot be started. */
export function benchDatabases(): readonly BenchDatabase[] {
  const why = whyNoPostgres();
  if (why === undefined) return ["SQLite", "PostgreSQL"];
  console.log(`PostgreSQL is left out: ${why}`);
  return ["SQLite"];
}

export type BenchDatabase = "SQLite" | "PostgreSQL";

/** A store of the server in a folder of its own. */
export interface BenchStore {
  readonly folder: string;
  readonly store: Store;
  close(): Promise<void>;
}

export async function openBenchStore(database: BenchDatabase = "SQLite"): Promise<BenchStore> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-search-"));
  const remove = cleanUp(() => removeFolder(folder));
  const alive = setInterval(() => {}, 1000); // The threads of a store let its process end.
  const server = database === "PostgreSQL" ? await startPostgres({ fsync: true }) : null;
  const place = server === null ? {} : { databaseUrl: server.url() };
  const store = await openStore({ file: join(folder, "store.db"), ...place });
  return {
    folder,
    store,
    close: async () => {
      await store.close();
      clearInterval(alive);
      await server?.stop();
      remove();
    },
  };
}

export interface BenchFile {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

/** A vector store with these files, none of which is taken in yet; resolves to its id. */
export async function createVectorStore(store: Store, files: readonly BenchFile[]): Promise<string> {
  const storeFiles: NewStoreFile[] = [];
  for (const { name, attributes = null } of files)
    storeFiles.push({ fileId: await upload(store, name), attributes, chunking: CHUNKING });
  const added = await store.vectorStores.createStore(
    OWNER,
    { name: "", description: null, metadata: {}, expiresAfterDays: null },
    storeFiles,
  );
  if (added.type !== "added") throw new Error(`the vector store was not made: ${added.type}`);
  return added.result.id;
}

async function upload(store: Store, filename: string): Promise<string> {
  async function* content(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(filename);
  }
  const file = {
    purpose: "assistants",
    filename,
    mimeType: "text/plain",
    content: content(),
    expiresAfter: null,
  } as const;
  return (await store.files.createFile(OWNER, file)).id;
}

export async function claim(store: Store): Promise<IngestTask> {
  const task = await store.ingestQueue.claim();
  if (task === null) throw new Error("no file waits");
  return task;
}

export async function addChunks(
  store: Store,
  task: IngestTask,
  chunks: readonly IndexedChunk[],
  model: VectorModel | null,
): Promise<void> {
  const added = await store.ingestQueue.addChunks(task, chunks, model);
  if (added !== "added") throw new Error(`chunks were not added: ${added}`);
}

export async function finish(store: Store, task: IngestTask): Promise<void> {
  await store.ingestQueue.finish(task, { type: "completed" });
}
