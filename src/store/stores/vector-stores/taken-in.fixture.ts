import type { FileAttributes } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { expect } from "vitest";
import type { IndexedChunk, VectorModel } from "../../../vector-stores/ports/chunks.ts";
import type { Store } from "../../open-store.ts";
import { OURS } from "../../stored-shapes.fixture.ts";

const CHUNKING = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };

/** A file to ingest: each text becomes a chunk. */
export interface TakenIn {
  readonly texts: readonly string[];
  readonly attributes?: FileAttributes;
  /** English if absent. */
  readonly language?: string;
  /** One for each text. */
  readonly vectors?: readonly (readonly number[])[];
}

export async function upload(store: Store, filename: string, owner: Owner = OURS): Promise<string> {
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
  return (await store.files.createFile(owner, file)).id;
}

/** Consecutive chunks without overlap. */
export function chunksOf({ texts, vectors, language = "eng" }: TakenIn): readonly IndexedChunk[] {
  let start = 0;
  return texts.map((text, ordinal) => {
    const vector = vectors?.[ordinal];
    const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
    const chunk = { ordinal, text, start, end: start + text.length, headings: [], columns: null, words, language };
    start += text.length;
    return { ...chunk, vector: vector === undefined ? null : Float32Array.from(vector) };
  });
}

/** A store with these files, named by their places; resolves to its id. */
export async function storeWith(
  store: Store,
  files: readonly TakenIn[],
  { owner = OURS, model = null }: { readonly owner?: Owner; readonly model?: VectorModel | null } = {},
): Promise<string> {
  const uploads: string[] = [];
  for (const index of files.keys()) uploads.push(await upload(store, `${index}.txt`, owner));
  const added = await store.vectorStores.createStore(
    owner,
    { name: "", description: null, metadata: {}, expiresAfterDays: null },
    uploads.map((fileId, index) => ({ fileId, attributes: files[index]?.attributes ?? null, chunking: CHUNKING })),
  );
  expect(added.type).toBe("added");
  for (const file of files) {
    const task = await store.ingestQueue.claim();
    expect(task).not.toBeNull();
    if (task === null) continue;
    expect(await store.ingestQueue.addChunks(task, chunksOf(file), model)).toBe("added");
    expect(await store.ingestQueue.finish(task, { type: "completed" })).toBe(true);
  }
  return added.type === "added" ? added.result.id : "";
}
