import { MatchersV3 } from "@pact-foundation/pact";
import type OpenAI from "openai";
import { describe, test } from "vitest";
import type { Antiphon } from "../../src/client/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const STORE = "vs_0123456789abcdef";
const FILE = "file-0123456789abcdef";
const BATCH = "vsfb_0123456789abcdef";
const stores = "/v1/vector_stores";
const files = `${stores}/${STORE}/files`;
const batches = `${stores}/${STORE}/file_batches`;

interface Operation {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly official: (client: OpenAI) => PromiseLike<unknown>;
  readonly own: (client: Antiphon) => PromiseLike<unknown>;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  listVectorStores: {
    method: "GET",
    path: stores,
    official: (client) => client.vectorStores.list(),
    own: (client) => client.listVectorStores(),
  },
  createVectorStore: {
    method: "POST",
    path: stores,
    body: { name: "books" },
    official: (client) => client.vectorStores.create({ name: "books" }),
    own: (client) => client.createVectorStore({ name: "books" }),
  },
  getVectorStore: {
    method: "GET",
    path: `${stores}/${STORE}`,
    official: (client) => client.vectorStores.retrieve(STORE),
    own: (client) => client.getVectorStore(STORE),
  },
  modifyVectorStore: {
    method: "POST",
    path: `${stores}/${STORE}`,
    body: { name: "letters" },
    official: (client) => client.vectorStores.update(STORE, { name: "letters" }),
    own: (client) => client.modifyVectorStore(STORE, { name: "letters" }),
  },
  deleteVectorStore: {
    method: "DELETE",
    path: `${stores}/${STORE}`,
    official: (client) => client.vectorStores.delete(STORE),
    own: (client) => client.deleteVectorStore(STORE),
  },
  searchVectorStore: {
    method: "POST",
    path: `${stores}/${STORE}/search`,
    body: { query: "sea" },
    official: (client) => client.vectorStores.search(STORE, { query: "sea" }),
    own: (client) => client.searchVectorStore(STORE, { query: "sea" }),
  },
  listVectorStoreFiles: {
    method: "GET",
    path: files,
    official: (client) => client.vectorStores.files.list(STORE),
    own: (client) => client.listVectorStoreFiles(STORE),
  },
  createVectorStoreFile: {
    method: "POST",
    path: files,
    body: { file_id: FILE },
    official: (client) => client.vectorStores.files.create(STORE, { file_id: FILE }),
    own: (client) => client.createVectorStoreFile(STORE, { file_id: FILE }),
  },
  getVectorStoreFile: {
    method: "GET",
    path: `${files}/${FILE}`,
    official: (client) => client.vectorStores.files.retrieve(FILE, { vector_store_id: STORE }),
    own: (client) => client.getVectorStoreFile(STORE, FILE),
  },
  updateVectorStoreFileAttributes: {
    method: "POST",
    path: `${files}/${FILE}`,
    body: { attributes: { year: 1900 } },
    official: (client) =>
      client.vectorStores.files.update(FILE, { vector_store_id: STORE, attributes: { year: 1900 } }),
    own: (client) => client.updateVectorStoreFileAttributes(STORE, FILE, { attributes: { year: 1900 } }),
  },
  getVectorStoreFileContent: {
    method: "GET",
    path: `${files}/${FILE}/content`,
    official: (client) => client.vectorStores.files.content(FILE, { vector_store_id: STORE }),
    own: (client) => client.getVectorStoreFileContent(STORE, FILE),
  },
  deleteVectorStoreFile: {
    method: "DELETE",
    path: `${files}/${FILE}`,
    official: (client) => client.vectorStores.files.delete(FILE, { vector_store_id: STORE }),
    own: (client) => client.deleteVectorStoreFile(STORE, FILE),
  },
  createVectorStoreFileBatch: {
    method: "POST",
    path: batches,
    body: { file_ids: [FILE] },
    official: (client) => client.vectorStores.fileBatches.create(STORE, { file_ids: [FILE] }),
    own: (client) => client.createVectorStoreFileBatch(STORE, { file_ids: [FILE] }),
  },
  getVectorStoreFileBatch: {
    method: "GET",
    path: `${batches}/${BATCH}`,
    official: (client) => client.vectorStores.fileBatches.retrieve(BATCH, { vector_store_id: STORE }),
    own: (client) => client.getVectorStoreFileBatch(STORE, BATCH),
  },
  cancelVectorStoreFileBatch: {
    method: "POST",
    path: `${batches}/${BATCH}/cancel`,
    official: (client) => client.vectorStores.fileBatches.cancel(BATCH, { vector_store_id: STORE }),
    own: (client) => client.cancelVectorStoreFileBatch(STORE, BATCH),
  },
  listFilesInVectorStoreBatch: {
    method: "GET",
    path: `${batches}/${BATCH}/files`,
    official: (client) => client.vectorStores.fileBatches.listFiles(BATCH, { vector_store_id: STORE }),
    own: (client) => client.listFilesInVectorStoreBatch(STORE, BATCH),
  },
};

/**
 * Our server does not implement these operations yet and answers with an error that clients recognise. The reference
 * implements them, so these tests do not run there.
 */
describe("a client of vector stores learns that they are not implemented, from", () => {
  test.each(Object.entries(OPERATIONS))("%s", async (operationId, { method, path, body, official, own }) => {
    verifies("contract.parity.same-checks-both-providers");
    const message = MatchersV3.regex(
      `^The operation '${operationId}' is not .+$`,
      `The operation '${operationId}' is not implemented yet.`,
    );
    const given = ["a server without vector stores"] as const;
    const request = `for ${operationId}, which is not there yet`;
    await checkRefusal(
      { given, request, method, path, ...(body === undefined ? {} : { body }) },
      { status: 501, code: "not_implemented", param: null, message, type: "server_error" },
      { official, own },
    );
  });
});
