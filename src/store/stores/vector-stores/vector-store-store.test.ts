import type { NewStoreFile } from "@antiphon/domain/vector-stores.ts";
import { expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { IndexedChunk } from "../../../vector-stores/ports/chunks.ts";
import type { Store, StoreOptions } from "../../open-store.ts";
import { openTestStore, testStores } from "../../store.fixture.ts";
import { OURS } from "../../stored-shapes.fixture.ts";
import { upload } from "./taken-in.fixture.ts";

const THEIRS = { organization: "other", project: "other" };
const CHUNKING = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };
const FIRST_PAGE = { limit: 10, order: "asc", after: null, before: null } as const;
const ALL_FILES = { ...FIRST_PAGE, status: null, batchId: null } as const;

function inStore(fileId: string, attributes: NewStoreFile["attributes"] = null): NewStoreFile {
  return { fileId, attributes, chunking: CHUNKING };
}

async function createStore(store: Store, files: readonly string[], days: number | null = null): Promise<string> {
  const added = await store.vectorStores.createStore(
    OURS,
    { name: "Notes", description: null, metadata: { a: "b" }, expiresAfterDays: days },
    files.map((id) => inStore(id)),
  );
  expect(added.type).toBe("added");
  return added.type === "added" ? added.result.id : "";
}

function chunk(ordinal: number, text: string, start: number): IndexedChunk {
  return {
    ordinal,
    text,
    start,
    end: start + text.length,
    headings: ["H"],
    columns: null,
    language: "eng",
    words: text.toLowerCase().split(" "),
    vector: null,
  };
}

async function takeIn(store: Store, texts: readonly string[]): Promise<void> {
  const task = await store.ingestQueue.claim();
  expect(task).not.toBeNull();
  if (task === null) return;
  let start = 0;
  const chunks = texts.map((text, index) => {
    const made = chunk(index, text, start);
    start += text.length;
    return made;
  });
  expect(await store.ingestQueue.addChunks(task, chunks, null)).toBe("added");
  expect(await store.ingestQueue.finish(task, { type: "completed" })).toBe(true);
}

async function openWithFiles(count: number, options: Partial<StoreOptions> = {}) {
  const store = await openTestStore(options);
  const files: string[] = [];
  for (let index = 0; index < count; index++) files.push(await upload(store, `${index}.txt`));
  return { store, files };
}

testStores("a store counts its files until all are taken in", async () => {
  const { store, files } = await openWithFiles(2);
  const id = await createStore(store, files);
  expect(await store.vectorStores.findStore(OURS, id)).toMatchObject({
    status: "in_progress",
    metadata: { a: "b" },
    file_counts: { in_progress: 2, completed: 0, total: 2 },
  });
  await takeIn(store, ["one ", "two"]);
  await takeIn(store, ["three"]);
  expect(await store.ingestQueue.claim()).toBeNull();
  expect(await store.vectorStores.findStore(OURS, id)).toMatchObject({
    status: "completed",
    usage_bytes: 12,
    file_counts: { in_progress: 0, completed: 2, total: 2 },
  });
  expect(await store.vectorStores.readFile(OURS, id, files[0] ?? "")).toEqual(["one ", "two"]);
});

testStores("nothing of another owner exists", async () => {
  const { store, files } = await openWithFiles(1);
  const id = await createStore(store, files);
  const { vectorStores } = store;
  expect(await vectorStores.findStore(THEIRS, id)).toBeNull();
  expect(await vectorStores.listFiles(THEIRS, id, ALL_FILES)).toBeNull();
  expect(await vectorStores.findFile(THEIRS, id, files[0] ?? "")).toBeNull();
  expect(await vectorStores.deleteStore(THEIRS, id)).toBe(false);
  expect(await vectorStores.removeFile(THEIRS, id, files[0] ?? "")).toBe(false);
  expect(await vectorStores.addFile(THEIRS, id, inStore(files[0] ?? ""))).toMatchObject({
    refusal: { reason: "unknown_store" },
  });
  const theirs = await vectorStores.createStore(
    THEIRS,
    { name: "", description: null, metadata: null, expiresAfterDays: null },
    [inStore(files[0] ?? "")],
  );
  expect(theirs).toEqual({ type: "refused", refusal: { reason: "unknown_file", fileId: files[0] } });
});

testStores("pages of stores and files go both ways and end at their cursors", async () => {
  const { store, files } = await openWithFiles(3);
  const ids = [await createStore(store, files), await createStore(store, []), await createStore(store, [])];
  const page = await store.vectorStores.listStores(OURS, { ...FIRST_PAGE, order: "desc", limit: 2 });
  expect(page?.entries.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  expect(page?.hasMore).toBe(true);
  const before = await store.vectorStores.listStores(OURS, { ...FIRST_PAGE, before: ids[2] ?? "" });
  expect(before?.entries.map(({ id }) => id)).toEqual([ids[0], ids[1]]);
  const after = await store.vectorStores.listFiles(OURS, ids[0] ?? "", { ...ALL_FILES, after: files[0] ?? "" });
  expect(after?.entries.map(({ id }) => id)).toEqual([files[1], files[2]]);
  await takeIn(store, ["text"]);
  const done = await store.vectorStores.listFiles(OURS, ids[0] ?? "", { ...ALL_FILES, status: "completed" });
  expect(done?.entries.map(({ id }) => id)).toEqual([files[0]]);
  expect(await store.vectorStores.listStores(OURS, { ...FIRST_PAGE, after: "vs_unknown" })).toBeNull();
});

testStores("a batch adds all of its files, and what waits of it can be cancelled", async () => {
  verifies("vector-stores.batches.cancel", "vector-stores.batches.counts");
  const { store, files } = await openWithFiles(3);
  const id = await createStore(store, []);
  const added = await store.vectorStores.addBatch(
    OURS,
    id,
    files.map((file) => inStore(file, { year: 2026 })),
  );
  expect(added).toMatchObject({ type: "added", result: { status: "in_progress", file_counts: { in_progress: 3 } } });
  if (added.type !== "added") return;
  await takeIn(store, ["text"]);
  const held = await store.ingestQueue.claim();
  const batch = await store.vectorStores.cancelBatch(OURS, id, added.result.id);
  expect(batch).toMatchObject({ status: "cancelled", file_counts: { completed: 1, cancelled: 2, in_progress: 0 } });
  expect(held).not.toBeNull();
  if (held !== null) expect(await store.ingestQueue.addChunks(held, [chunk(0, "late", 0)], null)).toBe("lost");
  const ofBatch = await store.vectorStores.listFiles(OURS, id, { ...ALL_FILES, batchId: added.result.id });
  expect(ofBatch?.entries.map(({ status, attributes }) => [status, attributes])).toEqual([
    ["completed", { year: 2026 }],
    ["cancelled", { year: 2026 }],
    ["cancelled", { year: 2026 }],
  ]);
});

testStores("a batch with an unknown file adds nothing", async () => {
  const { store, files } = await openWithFiles(1);
  const id = await createStore(store, []);
  const added = await store.vectorStores.addBatch(OURS, id, [inStore(files[0] ?? ""), inStore("file-unknown")]);
  expect(added).toEqual({ type: "refused", refusal: { reason: "unknown_file", fileId: "file-unknown" } });
  expect((await store.vectorStores.listFiles(OURS, id, ALL_FILES))?.entries).toEqual([]);
});

testStores("a deleted upload leaves all stores, and its chunks are erased", async () => {
  const { store, files } = await openWithFiles(1);
  const ids = [await createStore(store, files), await createStore(store, files)];
  await takeIn(store, ["secret"]);
  await takeIn(store, ["secret"]);
  expect(await store.files.deleteFile(OURS, files[0] ?? "")).toBe(true);
  for (const id of ids) {
    expect(await store.vectorStores.findFile(OURS, id, files[0] ?? "")).toBeNull();
    expect(await store.vectorStores.findStore(OURS, id)).toMatchObject({ usage_bytes: 0, file_counts: { total: 0 } });
  }
  expect(await store.vectorStores.expireUnused(0)).toBe(true);
  expect(await store.vectorStores.expireUnused(0)).toBe(true);
  expect(await store.vectorStores.expireUnused(0)).toBe(false);
});

testStores("a file that is added again is taken in anew", async () => {
  const { store, files } = await openWithFiles(1);
  const id = await createStore(store, files);
  await takeIn(store, ["old"]);
  await store.vectorStores.addFile(OURS, id, inStore(files[0] ?? "", { edition: 2 }));
  expect(await store.vectorStores.findFile(OURS, id, files[0] ?? "")).toMatchObject({ status: "in_progress" });
  await takeIn(store, ["new"]);
  expect(await store.vectorStores.readFile(OURS, id, files[0] ?? "")).toEqual(["new"]);
  expect(await store.vectorStores.findStore(OURS, id)).toMatchObject({ file_counts: { completed: 1, total: 1 } });
});

testStores("an unused store expires and takes no more files", async () => {
  verifies("vector-stores.expiry.days-after-last-use");
  const { store, files } = await openWithFiles(2);
  const id = await createStore(store, files, 1);
  const found = await store.vectorStores.findStore(OURS, id);
  const expiresAt = found?.expires_at ?? 0;
  expect(expiresAt - (found?.last_active_at ?? 0)).toBe(86_400);
  expect(await store.vectorStores.expireUnused(expiresAt - 1)).toBe(false);
  expect(await store.vectorStores.expireUnused(expiresAt)).toBe(true);
  expect(await store.vectorStores.findStore(OURS, id)).toMatchObject({
    status: "expired",
    file_counts: { cancelled: 2, in_progress: 0 },
  });
  expect(await store.vectorStores.addFile(OURS, id, inStore(files[0] ?? ""))).toEqual({
    type: "refused",
    refusal: { reason: "expired_store" },
  });
});

testStores("an owner's stores do not grow beyond their limit", async () => {
  verifies("vector-stores.quota.per-owner");
  const { store, files } = await openWithFiles(2, { vectorStoreBytesMax: 10 });
  const id = await createStore(store, [files[0] ?? ""]);
  const task = await store.ingestQueue.claim();
  expect(task).not.toBeNull();
  if (task === null) return;
  expect(await store.ingestQueue.addChunks(task, [chunk(0, "0123456789", 0)], null)).toBe("added");
  expect(await store.ingestQueue.addChunks(task, [chunk(1, "0", 10)], null)).toBe("full");
  await store.ingestQueue.finish(task, { type: "completed" });
  expect(await store.vectorStores.addFile(OURS, id, inStore(files[1] ?? ""))).toEqual({
    type: "refused",
    refusal: { reason: "full", bytesMax: 10 },
  });
});

testStores("a change of a store keeps what it leaves out", async () => {
  const { store } = await openWithFiles(0);
  const id = await createStore(store, [], 3);
  expect(await store.vectorStores.changeStore(OURS, id, { name: "New" })).toMatchObject({
    name: "New",
    metadata: { a: "b" },
    expires_after: { anchor: "last_active_at", days: 3 },
  });
  const changed = await store.vectorStores.changeStore(OURS, id, { expiresAfterDays: null, metadata: null });
  expect(changed).toMatchObject({ name: "New", metadata: null, expires_at: null });
  expect(changed).not.toHaveProperty("expires_after");
});

testStores("files of a worker that died are taken in by another, from their beginning", async () => {
  const { store, files } = await openWithFiles(1);
  const id = await createStore(store, files);
  const task = await store.ingestQueue.claim();
  expect(task).not.toBeNull();
  if (task === null) return;
  await store.ingestQueue.addChunks(task, [chunk(0, "half", 0)], null);
  await store.ingestQueue.release(task, "fault");
  expect(await store.ingestQueue.addChunks(task, [chunk(1, "late", 4)], null)).toBe("lost");
  await takeIn(store, ["whole"]);
  expect(await store.vectorStores.readFile(OURS, id, files[0] ?? "")).toEqual(["whole"]);
});
