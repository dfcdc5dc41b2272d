import { Readable } from "node:stream";
import type { ContainerChange } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { IndexedChunk } from "../../../vector-stores/ports/chunks.ts";
import type { IngestTask } from "../../../vector-stores/ports/ingest.ts";
import type { Store, StoreOptions } from "../../open-store.ts";
import { openTestStore, runSql, temporaryFile, testStores } from "../../store.fixture.ts";
import { OTHERS, OURS } from "../../stored-shapes.fixture.ts";
import { storeWith, upload } from "./taken-in.fixture.ts";

const CHUNKING = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };
const EMPTY = { name: "", description: null, metadata: {}, expiresAfterDays: null } as const;
const OLD = { name: "old", dimensions: 2 };
const NEW = { name: "new", dimensions: 3 };
const ROUNDS = 10;

interface Nodes {
  readonly file: string;
  readonly nodes: readonly [Store, Store];
}

async function openTwo(options: Partial<StoreOptions> = {}): Promise<Nodes> {
  const file = temporaryFile();
  return { file, nodes: [await openTestStore({ ...options, file }), await openTestStore({ ...options, file })] };
}

function added(fileId: string) {
  return { fileId, attributes: null, chunking: CHUNKING };
}

testStores("each file is taken in by one of several that look for files at once", async () => {
  const { nodes } = await openTwo();
  const [first] = nodes;
  const files: string[] = [];
  for (let index = 0; index < 12; index++) files.push(await upload(first, `${index}.txt`));
  await first.vectorStores.createStore(OURS, EMPTY, files.map(added));
  const claims = await Promise.all(
    Array.from({ length: 16 }, (_, index) => (nodes[index % 2] ?? first).ingestQueue.claim()),
  );
  const tasks = claims.filter((task) => task !== null);
  expect(tasks.map(({ fileId }) => fileId).toSorted()).toEqual(files.toSorted());
  expect(await Promise.all(tasks.map((task) => finishOn(first, task)))).toEqual(tasks.map(() => true));
  expect(await nodes[1].ingestQueue.count()).toBe(0);
});

testStores("owners have turns, however many files one of them has added before the others", async () => {
  verifies("vector-stores.intake.fair-to-owners");
  const store = await openTestStore();
  const waiting = [...Array.from({ length: 4 }, () => OURS), ...OTHERS, OTHERS[0] ?? OURS];
  for (const [index, owner] of waiting.entries()) await addAlone(store, owner, `${index}.txt`);
  const claimed = [];
  for (let task = await store.ingestQueue.claim(); task !== null; task = await store.ingestQueue.claim()) {
    if (
      claimed.push(
        [OURS, ...OTHERS].findIndex(
          ({ organization, project }) => organization === task?.owner.organization && project === task.owner.project,
        ),
      ) === 4
    )
      await addAlone(store, OTHERS[1] ?? OURS, "late.txt"); // Whoever adds one by one has no more turns than others.
  }
  expect(claimed).toEqual([0, 1, 2, 0, 1, 2, 0, 0]);
});

async function addAlone({ files, vectorStores }: Store, owner: Owner, filename: string): Promise<void> {
  const file = { purpose: "assistants", filename, mimeType: "text/plain", expiresAfter: null } as const;
  const { id } = await files.createFile(owner, { ...file, content: Readable.from([Buffer.from("text")]) });
  await vectorStores.createStore(owner, EMPTY, [added(id)]);
}

testStores("a file that is added to a store while another node deletes the store is not left behind", async () => {
  const { file, nodes } = await openTwo();
  const fileId = await upload(nodes[0], "a.txt");
  for (let round = 0; round < ROUNDS; round++) {
    const made = await nodes[0].vectorStores.createStore(OURS, EMPTY, []);
    const id = made.type === "added" ? made.result.id : "";
    const adding = Promise.all([
      nodes[0].vectorStores.addFile(OURS, id, added(fileId)),
      nodes[0].vectorStores.addBatch(OURS, id, [added(fileId)]),
    ]);
    expect(await nodes[1].vectorStores.deleteStore(OURS, id)).toBe(true);
    await adding;
  }
  for (const table of ["vector_store_files", "vector_store_batches"]) expect(await count(file, table)).toBe(0);
});

testStores("an upload that another node deletes while it is added to a store leaves the store", async () => {
  const { file, nodes } = await openTwo();
  const made = await nodes[0].vectorStores.createStore(OURS, EMPTY, []);
  const id = made.type === "added" ? made.result.id : "";
  for (let round = 0; round < ROUNDS; round++) {
    const fileId = await upload(nodes[0], "a.txt");
    const adding = nodes[0].vectorStores.addFile(OURS, id, added(fileId));
    expect(await nodes[1].files.deleteFile(OURS, fileId)).toBe(true);
    await adding;
  }
  expect(await count(file, "vector_store_files")).toBe(0);
});

testStores("an owner has no more containers than it may have, whichever nodes make them", async () => {
  verifies("containers.quota.per-owner");
  const { nodes } = await openTwo({ ownerContainersMax: 3, ownerContainerBytesMax: 10 });
  const container = { name: "w", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, index) => (nodes[index % 2] ?? nodes[0]).containers.createContainer(OURS, container)),
  );
  expect(made.filter(({ type }) => type === "changed")).toHaveLength(3);
  const ids = made.flatMap((change) => (change.type === "changed" ? [change.result.id] : []));
  const written: readonly ContainerChange<unknown>[] = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      (nodes[index % 2] ?? nodes[0]).containers.addFile(OURS, ids[index % 3] ?? "", {
        filename: `${index}.txt`,
        content: bytesOf("1234"),
      }),
    ),
  );
  expect(written.filter(({ type }) => type === "changed")).toHaveLength(2);
});

testStores("nothing is left of a file that is written while another node deletes its container", async () => {
  const { file, nodes } = await openTwo();
  const container = { name: "w", fileIds: [], expiresAfterMinutes: null, memoryLimit: "1g" } as const;
  for (let round = 0; round < ROUNDS; round++) {
    const made = await nodes[0].containers.createContainer(OURS, container);
    const id = made.type === "changed" ? made.result.id : "";
    const incoming = { filename: "a.txt", content: bytesOf("1234") };
    const writing = nodes[0].containers.addFile(OURS, id, incoming).catch(() => null); // Its folder may be gone.
    expect(await nodes[1].containers.deleteContainer(OURS, id)).toBe(true);
    await writing;
  }
  for (const table of ["containers", "container_files"]) expect(await count(file, table)).toBe(0);
});

testStores("a store is searched by its old model until all of its files have vectors of the new one", async () => {
  const store = await openTestStore();
  const id = await storeWith(
    store,
    [
      { texts: ["east"], vectors: [[1, 0]] },
      { texts: ["north"], vectors: [[0, 1]] },
    ],
    { model: OLD },
  );
  const models = (): Promise<unknown> => store.chunks.modelsOf({ owner: OURS, storeIds: [id] });
  for (let after = 0; ; ) {
    const stale = await store.vectorRenewal.findStale(NEW.name, NEW.dimensions, after);
    if (stale === null) break;
    expect(await models()).toEqual([OLD]);
    const chunks = await store.vectorRenewal.readChunks(stale, NEW, 10);
    expect(chunks).toHaveLength(1);
    const vectors = chunks.map(({ key, text }) => ({
      key,
      vector: Float32Array.from([0, 0, text === "east" ? 1 : -1]),
    }));
    for (let time = 0; time < 2; time++) expect(await store.vectorRenewal.addVectors(stale, NEW, vectors)).toBe(true);
    await store.vectorRenewal.finishFile(stale, NEW);
    after = stale.number;
  }
  expect(await models()).toEqual([NEW]);
  await store.vectorRenewal.switchStores(NEW);
  while (await store.vectorRenewal.eraseOld());
  const question = {
    words: [],
    stopWords: [],
    vectors: [{ model: NEW, vector: Float32Array.from([0, 0, 1]), commonShare: 0 }],
  };
  const scope = { owner: OURS, storeIds: [id], filter: null };
  const found = await store.chunks.find(scope, [question], 10, new AbortController().signal);
  expect(found.type === "found" ? found.hits[0]?.map(({ cosine }) => cosine).toSorted() : []).toEqual([-1, 1]);
  expect((await store.vectorStores.findStore(OURS, id))?.usage_bytes).toBe("eastnorth".length + 2 * 3 * 4);
});

async function finishOn(store: Store, task: IngestTask): Promise<boolean> {
  const chunk: IndexedChunk = {
    ordinal: 0,
    text: "a",
    start: 0,
    end: 1,
    headings: [],
    columns: null,
    words: ["a"],
    language: "eng",
    vector: null,
  };
  await store.ingestQueue.addChunks(task, [chunk], null);
  return await store.ingestQueue.finish(task, { type: "completed" });
}

async function count(file: string, table: string): Promise<number> {
  const [row] = await runSql(file, `select count(*) as rows from ${table}`);
  return Number(row?.["rows"]);
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
