import { setTimeout as sleep } from "node:timers/promises";
import type { VectorStore, VectorStoreFile } from "@antiphon/contracts/responses-api/types.ts";
import { namedFile, uploadFile } from "../kit/upload.ts";

/** A server that can be called with its key. */
export interface Called {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown): Promise<Response>;
}

const WAIT_MS = 60_000;
const LOOK_MS = 20;

export async function upload(server: Called, filename: string, content: string | Uint8Array): Promise<string> {
  return String((await read(await uploadFile(server, namedFile(content, filename), "assistants")))["id"]);
}

export async function createStore(server: Called, fileIds: readonly string[], more: object = {}): Promise<string> {
  const made = await server.post("/v1/vector_stores", { name: "Notes", file_ids: fileIds, ...more });
  return String((await read(made))["id"]);
}

/** The store once no file waits any more. */
export async function takenIn(server: Called, storeId: string): Promise<VectorStore> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const store = await readAs<VectorStore>(await server.fetch(`/v1/vector_stores/${storeId}`));
    if (store.file_counts.in_progress === 0) return store;
    if (performance.now() > deadline) throw new Error(`still taken in: ${JSON.stringify(store.file_counts)}`);
    await sleep(LOOK_MS);
  }
}

/** One file after it was taken into a store of its own. */
export async function takeIn(server: Called, filename: string, content: string | Uint8Array): Promise<TakenIn> {
  const fileId = await upload(server, filename, content);
  const storeId = await createStore(server, [fileId]);
  await takenIn(server, storeId);
  const file = await fileOf(server, storeId, fileId);
  return { storeId, fileId, file, text: file.status === "completed" ? await textOf(server, storeId, fileId) : null };
}

export interface TakenIn {
  readonly storeId: string;
  readonly fileId: string;
  readonly file: VectorStoreFile;
  /** Null if it was not taken in. */
  readonly text: string | null;
}

export async function fileOf(server: Called, storeId: string, fileId: string): Promise<VectorStoreFile> {
  return await readAs<VectorStoreFile>(await server.fetch(`/v1/vector_stores/${storeId}/files/${fileId}`));
}

export async function textOf(server: Called, storeId: string, fileId: string): Promise<string> {
  const content = await server.fetch(`/v1/vector_stores/${storeId}/files/${fileId}/content`);
  const { data } = await readAs<{ readonly data: readonly { readonly text: string }[] }>(content);
  return data.map(({ text }) => text).join("");
}

export interface Found {
  readonly score: number;
  readonly filename: string;
  readonly content: readonly { readonly text: string }[];
}

export async function search(server: Called, storeId: string, query: string): Promise<readonly Found[]> {
  const found = await server.post(`/v1/vector_stores/${storeId}/search`, { query });
  return (await readAs<{ readonly data: readonly Found[] }>(found)).data;
}

async function read(response: Response): Promise<Record<string, unknown>> {
  return await readAs<Record<string, unknown>>(response);
}

async function readAs<Body>(response: Response): Promise<Body> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const body: Body = await response.json();
  return body;
}
