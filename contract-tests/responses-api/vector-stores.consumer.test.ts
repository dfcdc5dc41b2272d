import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { theModel } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { fromProviderState, number, regex, string } = MatchersV3;

const STORE_ID = "vs_0123456789abcdef0067000000012345";
const FILE_ID = "file-0123456789abcdef0067000000012345";
const BATCH_ID = "vsfb_0123456789abcdef0067000000012345";
const UNKNOWN_STORE = "vs_ffffffffffffffff0067000000ffffff";
const UNKNOWN_FILE = "file-ffffffffffffffff0067000000ffffff";
const UNKNOWN_BATCH = "vsfb_ffffffffffffffff0067000000ffffff";
const TEXT = "The tide turns twice a day.";

const stores = "/v1/vector_stores";
const storePath = pathOf("");
const filesPath = pathOf("/files");
const filePath = pathOf("/files/${file_id}");
const batchesPath = pathOf("/file_batches");
const batchPath = pathOf("/file_batches/${batch_id}");
/** The verifier replaces it with the file of the state. */
const theFile = fromProviderState("${file_id}", FILE_ID);

function pathOf(rest: string) {
  const path = `${stores}/\${store_id}${rest}`;
  return fromProviderState(path, exampleOf(path));
}

function exampleOf(path: string): string {
  return path.replace("${store_id}", STORE_ID).replace("${file_id}", FILE_ID).replace("${batch_id}", BATCH_ID);
}

const COUNTS = { in_progress: 0, completed: 1, failed: 0, cancelled: 0, total: 1 };
const STORE = {
  id: STORE_ID,
  object: "vector_store",
  created_at: 1_795_000_000,
  name: "books",
  description: null,
  usage_bytes: 27,
  file_counts: COUNTS,
  status: "completed",
  expires_at: null,
  last_active_at: 1_795_000_000,
  metadata: {},
} as const;
const EXPIRY = { anchor: "last_active_at", days: 7 } as const;
const CUT = { type: "static", static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 } } as const;
const FILE = {
  id: FILE_ID,
  object: "vector_store.file",
  created_at: 1_795_000_000,
  usage_bytes: 27,
  vector_store_id: STORE_ID,
  status: "completed",
  last_error: null,
  attributes: { year: 1900 },
  chunking_strategy: CUT,
} as const;
const BATCH = {
  id: BATCH_ID,
  object: "vector_store.files_batch",
  created_at: 1_795_000_000,
  vector_store_id: STORE_ID,
  status: "completed",
  file_counts: COUNTS,
} as const;

/** Files begin with `file-`, which is no prefix of a shape's. */
const FILE_SHAPE = { ...Object(shapeOf(FILE)), id: regex("^file-.+$", FILE_ID) };
const storeShape = (members: object) => ({ ...Object(shapeOf({ ...STORE, ...members })) });
const listOf = (one: { readonly id: string }) => ({
  object: "list" as const,
  data: [one],
  first_id: one.id,
  has_more: false,
  last_id: one.id,
});
function listShape(one: { readonly id: unknown }) {
  return { object: "list", data: [one], first_id: one.id, has_more: false, last_id: one.id };
}

const given = ["a vector store that holds a file"] as const;
const givenBatch = ["a vector store with a batch of files"] as const;

describe("a client that keeps vector stores", () => {
  test("makes one", async () => {
    verifies("vector-stores.create.object-of-the-reference");
    const body = { name: "books", description: "All of them", expires_after: EXPIRY, metadata: { shelf: "3" } };
    const made = { ...STORE, ...body, usage_bytes: 0, file_counts: { ...COUNTS, completed: 0, total: 0 } };
    const answer = { ...made, expires_at: 1_795_604_800 };
    await checkAnswer(
      { request: "to make a vector store", method: "POST", path: stores, body, reply: { json: shapeOf(answer) } },
      answer,
      { official: (client) => client.vectorStores.create(body), own: (client) => client.createVectorStore(body) },
    );
  });

  test("makes one of files", async () => {
    const asked = { file_ids: [FILE_ID], chunking_strategy: { type: "auto" as const } };
    const counts = { ...COUNTS, in_progress: 1, completed: 0 };
    const answer = { ...STORE, name: "", usage_bytes: 0, file_counts: counts, status: "in_progress" };
    await checkAnswer(
      {
        given: ["an uploaded file"],
        request: "to make a vector store of files",
        method: "POST",
        path: stores,
        body: { ...asked, file_ids: [theFile] },
        reply: { json: shapeOf({ ...answer, name: string("") }) },
      },
      answer,
      { official: (client) => client.vectorStores.create(asked), own: (client) => client.createVectorStore(asked) },
    );
  });

  test("lists them", async () => {
    const query = { limit: 1, order: "desc" } as const;
    const shape = listShape(storeShape({}));
    await checkAnswer(
      {
        given,
        request: "for vector stores",
        method: "GET",
        path: stores,
        query: { limit: "1", order: "desc" },
        reply: { json: { ...shape, has_more: MatchersV3.boolean(false) } },
      },
      { data: [STORE] },
      { official: (client) => client.vectorStores.list(query), own: (client) => client.listVectorStores(query) },
    );
  });

  test("reads what is known about one", async () => {
    await checkAnswer(
      { given, request: "for a vector store", method: "GET", path: storePath, reply: { json: storeShape({}) } },
      STORE,
      {
        official: (client) => client.vectorStores.retrieve(STORE_ID),
        own: (client) => client.getVectorStore(STORE_ID),
      },
    );
  });

  test("changes one", async () => {
    verifies("vector-stores.modify.null-takes-away");
    const body = { name: "letters", metadata: { shelf: "4" }, expires_after: null };
    const answer = { ...STORE, name: "letters", metadata: { shelf: "4" } };
    await checkAnswer(
      {
        given,
        request: "to change a vector store",
        method: "POST",
        path: storePath,
        body,
        reply: { json: shapeOf(answer) },
      },
      answer,
      {
        official: (client) => client.vectorStores.update(STORE_ID, body),
        own: (client) => client.modifyVectorStore(STORE_ID, body),
      },
    );
  });

  test("removes one", async () => {
    const deleted = { id: STORE_ID, object: "vector_store.deleted", deleted: true } as const;
    await checkAnswer(
      {
        given,
        request: "to remove a vector store",
        method: "DELETE",
        path: storePath,
        reply: { json: shapeOf(deleted) },
      },
      deleted,
      {
        official: (client) => client.vectorStores.delete(STORE_ID),
        own: (client) => client.deleteVectorStore(STORE_ID),
      },
    );
  });

  test("searches one", async () => {
    verifies("vector-stores.search.page", "vector-stores.search.queries-are-echoed");
    const body = {
      query: ["When does the tide turn?", "tide"],
      filters: { type: "and" as const, filters: [{ type: "gte" as const, key: "year", value: 1900 }] },
      max_num_results: 3,
      ranking_options: { ranker: "auto" as const, score_threshold: 0 },
      rewrite_query: false,
    };
    const { query: search_query } = body;
    const content = [{ type: "text" as const, text: TEXT }];
    const found = { file_id: FILE_ID, filename: "tide.txt", score: 0.4, attributes: { year: 1900 }, content };
    const page = {
      object: "vector_store.search_results.page",
      search_query,
      data: [found],
      has_more: false,
      next_page: null,
    } as const;
    const shape = { ...found, file_id: FILE_SHAPE.id, score: number(found.score) };
    await checkAnswer(
      {
        given,
        request: "to search a vector store",
        method: "POST",
        path: pathOf("/search"),
        body,
        reply: { json: { ...page, data: [shape] } },
      },
      { data: page.data },
      {
        official: (client) => client.vectorStores.search(STORE_ID, body),
        own: (client) => client.searchVectorStore(STORE_ID, body),
      },
    );
  });
});

describe("a client that keeps files in a vector store", () => {
  test("adds one", async () => {
    const settings = { attributes: { year: 1900 }, chunking_strategy: CUT };
    const answer = { ...FILE, usage_bytes: 0, status: "in_progress" };
    await checkAnswer(
      {
        given: ["a vector store", "an uploaded file"],
        request: "to add a file to a vector store",
        method: "POST",
        path: filesPath,
        body: { file_id: theFile, ...settings },
        reply: { json: { ...Object(shapeOf(answer)), id: FILE_SHAPE.id } },
      },
      answer,
      {
        official: (client) => client.vectorStores.files.create(STORE_ID, { file_id: FILE_ID, ...settings }),
        own: (client) => client.createVectorStoreFile(STORE_ID, { file_id: FILE_ID, ...settings }),
      },
    );
  });

  test("lists those of a status", async () => {
    verifies("vector-stores.list.files-by-status");
    const query = { filter: "completed", limit: 5, order: "asc" } as const;
    await checkAnswer(
      {
        given,
        request: "for the files of a vector store",
        method: "GET",
        path: filesPath,
        query: { ...query, limit: "5" },
        reply: { json: listShape(FILE_SHAPE) },
      },
      { data: listOf(FILE).data },
      {
        official: (client) => client.vectorStores.files.list(STORE_ID, query),
        own: (client) => client.listVectorStoreFiles(STORE_ID, query),
      },
    );
  });

  test("reads what is known about one", async () => {
    await checkAnswer(
      { given, request: "for a file of a vector store", method: "GET", path: filePath, reply: { json: FILE_SHAPE } },
      FILE,
      {
        official: (client) => client.vectorStores.files.retrieve(FILE_ID, { vector_store_id: STORE_ID }),
        own: (client) => client.getVectorStoreFile(STORE_ID, FILE_ID),
      },
    );
  });

  test("gives one other attributes", async () => {
    verifies("vector-stores.attributes.update");
    const attributes = { author: "Ada", year: 1843, read: true };
    await checkAnswer(
      {
        given,
        request: "to change the attributes of a file of a vector store",
        method: "POST",
        path: filePath,
        body: { attributes },
        reply: { json: { ...FILE_SHAPE, attributes } },
      },
      { ...FILE, attributes },
      {
        official: (client) => client.vectorStores.files.update(FILE_ID, { vector_store_id: STORE_ID, attributes }),
        own: (client) => client.updateVectorStoreFileAttributes(STORE_ID, FILE_ID, { attributes }),
      },
    );
  });

  test("reads the text of one", async () => {
    verifies("vector-stores.files.content");
    const page = {
      object: "vector_store.file_content.page",
      data: [{ type: "text", text: TEXT }],
      has_more: false,
      next_page: null,
    } as const;
    await checkAnswer(
      {
        given,
        request: "for the text of a file of a vector store",
        method: "GET",
        path: pathOf("/files/${file_id}/content"),
        reply: { json: page },
      },
      { data: page.data },
      {
        official: (client) => client.vectorStores.files.content(FILE_ID, { vector_store_id: STORE_ID }),
        own: (client) => client.getVectorStoreFileContent(STORE_ID, FILE_ID),
      },
    );
  });

  test("takes one out", async () => {
    verifies("vector-stores.delete.keeps-its-files");
    const deleted = { id: FILE_ID, object: "vector_store.file.deleted", deleted: true } as const;
    await checkAnswer(
      {
        given,
        request: "to remove a file from a vector store",
        method: "DELETE",
        path: filePath,
        reply: { json: { ...deleted, id: FILE_SHAPE.id } },
      },
      deleted,
      {
        official: (client) => client.vectorStores.files.delete(FILE_ID, { vector_store_id: STORE_ID }),
        own: (client) => client.deleteVectorStoreFile(STORE_ID, FILE_ID),
      },
    );
  });
});

describe("a client that adds many files to a vector store", () => {
  const begun = { ...BATCH, status: "in_progress", file_counts: { ...COUNTS, in_progress: 1, completed: 0 } } as const;
  const state = ["a vector store", "an uploaded file"] as const;

  test("names them with common settings", async () => {
    verifies("vector-stores.batches.file-ids-or-files");
    const body = { file_ids: [FILE_ID], attributes: { year: 1900 }, chunking_strategy: CUT };
    await checkAnswer(
      {
        given: state,
        request: "to add a batch of files to a vector store",
        method: "POST",
        path: batchesPath,
        body: { ...body, file_ids: [theFile] },
        reply: { json: shapeOf(begun) },
      },
      begun,
      {
        official: (client) => client.vectorStores.fileBatches.create(STORE_ID, body),
        own: (client) => client.createVectorStoreFileBatch(STORE_ID, body),
      },
    );
  });

  test("names them with their own settings", async () => {
    verifies("vector-stores.batches.file-ids-or-files");
    const files = [{ file_id: FILE_ID, attributes: { year: 1900 }, chunking_strategy: { type: "auto" as const } }];
    await checkAnswer(
      {
        given: state,
        request: "to add a batch of files with their own settings to a vector store",
        method: "POST",
        path: batchesPath,
        body: { files: files.map((file) => ({ ...file, file_id: theFile })) },
        reply: { json: shapeOf(begun) },
      },
      begun,
      {
        official: (client) => client.vectorStores.fileBatches.create(STORE_ID, { files }),
        own: (client) => client.createVectorStoreFileBatch(STORE_ID, { files }),
      },
    );
  });

  test("reads how far they are", async () => {
    verifies("vector-stores.batches.counts");
    await checkAnswer(
      {
        given: givenBatch,
        request: "for a batch of files",
        method: "GET",
        path: batchPath,
        reply: { json: shapeOf(BATCH) },
      },
      BATCH,
      {
        official: (client) => client.vectorStores.fileBatches.retrieve(BATCH_ID, { vector_store_id: STORE_ID }),
        own: (client) => client.getVectorStoreFileBatch(STORE_ID, BATCH_ID),
      },
    );
  });

  test("cancels what is over, and gets it as it is", async () => {
    verifies("vector-stores.batches.cancel");
    await checkAnswer(
      {
        given: [...givenBatch, "our own server"],
        request: "to cancel a batch of files",
        method: "POST",
        path: pathOf("/file_batches/${batch_id}/cancel"),
        reply: { json: shapeOf(BATCH) },
      },
      BATCH,
      {
        official: (client) => client.vectorStores.fileBatches.cancel(BATCH_ID, { vector_store_id: STORE_ID }),
        own: (client) => client.cancelVectorStoreFileBatch(STORE_ID, BATCH_ID),
      },
    );
  });

  test("lists them", async () => {
    const query = { filter: "completed", limit: 5 } as const;
    await checkAnswer(
      {
        given: givenBatch,
        request: "for the files of a batch",
        method: "GET",
        path: pathOf("/file_batches/${batch_id}/files"),
        query: { ...query, limit: "5" },
        reply: { json: listShape(FILE_SHAPE) },
      },
      { data: listOf(FILE).data },
      {
        official: (client) =>
          client.vectorStores.fileBatches.listFiles(BATCH_ID, { vector_store_id: STORE_ID, ...query }),
        own: (client) => client.listFilesInVectorStoreBatch(STORE_ID, BATCH_ID, query),
      },
    );
  });
});

describe("a client that looks for what is in no vector store", () => {
  const unknown = { status: 404, param: null } as const;
  const withoutStore = { ...unknown, message: string(`Vector store with id '${UNKNOWN_STORE}' not found.`) };

  test("gets 404 for a store", async () => {
    verifies("vector-stores.get.unknown-is-404");
    await checkRefusal(
      { request: "for an unknown vector store", method: "GET", path: `${stores}/${UNKNOWN_STORE}` },
      withoutStore,
      {
        official: (client) => client.vectorStores.retrieve(UNKNOWN_STORE),
        own: (client) => client.getVectorStore(UNKNOWN_STORE),
      },
    );
  });

  test("gets 404 for a search", async () => {
    verifies("vector-stores.get.unknown-is-404");
    const body = { query: "tide" };
    const path = `${stores}/${UNKNOWN_STORE}/search`;
    await checkRefusal({ request: "to search an unknown vector store", method: "POST", path, body }, withoutStore, {
      official: (client) => client.vectorStores.search(UNKNOWN_STORE, body),
      own: (client) => client.searchVectorStore(UNKNOWN_STORE, body),
    });
  });

  test("gets 404 for a file", async () => {
    verifies("vector-stores.get.unknown-is-404");
    const message = regex(
      "^No file found with id 'file-f+.+' in vector store 'vs_.+'\\.$",
      noneIn("file", UNKNOWN_FILE),
    );
    await checkRefusal(
      {
        given: ["a vector store", "our own server"],
        request: "for a file that a vector store does not hold",
        method: "GET",
        path: pathOf(`/files/${UNKNOWN_FILE}`),
      },
      { ...unknown, message },
      {
        official: (client) => client.vectorStores.files.retrieve(UNKNOWN_FILE, { vector_store_id: STORE_ID }),
        own: (client) => client.getVectorStoreFile(STORE_ID, UNKNOWN_FILE),
      },
    );
  });

  test("gets 404 for a batch", async () => {
    verifies("vector-stores.get.unknown-is-404");
    const message = regex(
      "^No file batch found with id 'vsfb_f+.+' in vector store 'vs_.+'\\.$",
      noneIn("file batch", UNKNOWN_BATCH),
    );
    await checkRefusal(
      {
        given: ["a vector store", "our own server"],
        request: "for an unknown batch of files",
        method: "GET",
        path: pathOf(`/file_batches/${UNKNOWN_BATCH}`),
      },
      { ...unknown, message },
      {
        official: (client) => client.vectorStores.fileBatches.retrieve(UNKNOWN_BATCH, { vector_store_id: STORE_ID }),
        own: (client) => client.getVectorStoreFileBatch(STORE_ID, UNKNOWN_BATCH),
      },
    );
  });

  test("gets 404 when a response is to search it", async () => {
    verifies("tools.file-search.unknown-store");
    const tools = [{ type: "file_search" as const, vector_store_ids: [UNKNOWN_STORE] }];
    const asked = { model: "example-model", input: "When does the tide turn?", tools };
    await checkRefusal(
      {
        given: ["a chat model", "our own server"],
        request: "for a response that searches an unknown vector store",
        method: "POST",
        path: "/v1/responses",
        body: { ...asked, model: theModel },
      },
      { ...withoutStore, param: "tools" },
      { official: (client) => client.responses.create(asked), own: (client) => client.createResponse(asked) },
    );
  });

  const noneIn = (what: string, id: string) => `No ${what} found with id '${id}' in vector store '${STORE_ID}'.`;
});

describe("a client whose request on a vector store is refused", () => {
  const ours = ["a vector store", "our own server"] as const;

  test("because pieces would overlap by more than half, gets 400", async () => {
    verifies("vector-stores.chunking.overlap-at-most-half");
    const sizes = { max_chunk_size_tokens: 100, chunk_overlap_tokens: 51 };
    const body = { file_id: FILE_ID, chunking_strategy: { type: "static" as const, static: sizes } };
    const param = "chunking_strategy.static.chunk_overlap_tokens";
    await checkRefusal(
      { given: ours, request: "to add a file in pieces that overlap too much", method: "POST", path: filesPath, body },
      { status: 400, code: "integer_above_max_value", param, message: string(`Invalid '${param}'.`) },
      {
        official: (client) => client.vectorStores.files.create(STORE_ID, body),
        own: (client) => client.createVectorStoreFile(STORE_ID, body),
      },
    );
  });

  test("because a file would have too many attributes, gets 400", async () => {
    verifies("vector-stores.attributes.limits");
    const attributes = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`key${index}`, index]));
    const body = { file_id: FILE_ID, attributes };
    await checkRefusal(
      { given: ours, request: "to add a file with too many attributes", method: "POST", path: filesPath, body },
      {
        status: 400,
        code: "object_above_max_properties",
        param: "attributes",
        message: string("Invalid 'attributes'."),
      },
      {
        official: (client) => client.vectorStores.files.create(STORE_ID, body),
        own: (client) => client.createVectorStoreFile(STORE_ID, body),
      },
    );
  });

  test("because a batch has both lists of files, gets 400", async () => {
    verifies("vector-stores.batches.file-ids-or-files");
    const body = { file_ids: [FILE_ID], files: [{ file_id: FILE_ID }] };
    await checkRefusal(
      { given: ours, request: "to add a batch of both lists of files", method: "POST", path: batchesPath, body },
      { status: 400, code: "mutually_exclusive_parameters", param: null, message: string("Mutually exclusive.") },
      {
        official: (client) => client.vectorStores.fileBatches.create(STORE_ID, body),
        own: (client) => client.createVectorStoreFileBatch(STORE_ID, body),
      },
    );
  });

  test("because a filter compares with what it cannot, gets 400", async () => {
    verifies("vector-stores.filters.values-suit-types");
    const body = { query: "tide", filters: { type: "in" as const, key: "year", value: 1900 } };
    await checkRefusal(
      {
        given: ours,
        request: "to search with a filter that makes no sense",
        method: "POST",
        path: pathOf("/search"),
        body,
      },
      {
        status: 400,
        code: "invalid_type",
        param: "filters.value",
        message: string("Invalid type for 'filters.value'."),
      },
      {
        official: (client) => client.vectorStores.search(STORE_ID, body),
        own: (client) => client.searchVectorStore(STORE_ID, body),
      },
    );
  });
});
