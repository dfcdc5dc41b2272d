import type { Setting } from "../setting.ts";

const MEBIBYTE = 1024 * 1024;

/** Vector stores: how files are ingested, and the embeddings server for search by meaning. */
export const VECTOR_STORE_SETTINGS = {
  embeddingModel: {
    name: "EMBEDDING_MODEL",
    section: "Vector stores",
    kind: "string",
    default: null,
    defaultText: "none: vector stores are searched by words only",
    text: "Embedding model for searching vector stores by meaning. After a change, stored files get new vectors in the background; until then, the old ones are used.",
  },
  embeddingBaseUrl: {
    name: "EMBEDDING_BASE_URL",
    section: "Vector stores",
    kind: "url",
    default: null,
    defaultText: "the model server",
    text: "OpenAI-compatible server with /embeddings, such as http://127.0.0.1:11434/v1. Used if EMBEDDING_MODEL is set.",
  },
  embeddingApiKey: {
    name: "EMBEDDING_API_KEY",
    section: "Vector stores",
    kind: "secret",
    default: null,
    defaultText: "MODEL_API_KEY if the model server is used",
    text: "Key for the embeddings server.",
  },
  embeddingTimeoutMs: {
    name: "EMBEDDING_TIMEOUT_MS",
    section: "Vector stores",
    kind: "duration",
    default: 60_000,
    min: 100,
    max: 3_600_000,
    text: "How long one request with up to 64 texts to the embeddings server may take. Searches wait at most 10 seconds, then search by words.",
  },
  embeddingCacheBytes: {
    name: "EMBEDDING_CACHE_BYTES",
    section: "Vector stores",
    kind: "integer",
    default: 256 * MEBIBYTE,
    min: 0,
    max: 1024 * 1024 * MEBIBYTE,
    text: "Most memory for vectors of recently searched stores, in bytes. Other vectors are read from the disk again.",
  },
  ingestWorkers: {
    name: "INGEST_WORKERS",
    section: "Vector stores",
    kind: "integer",
    default: 2,
    min: 0,
    max: 64,
    text: "How many files each process ingests into vector stores at the same time, each in its own thread. With 0, other processes ingest them.",
  },
  ingestFileBytesMax: {
    name: "INGEST_FILE_BYTES_MAX",
    section: "Vector stores",
    kind: "integer",
    default: 128 * MEBIBYTE,
    min: 1,
    max: 512 * MEBIBYTE,
    text: "Largest file that can be added to a vector store, in bytes. It occupies memory while it is ingested, so the default is a quarter of the reference's maximum, 536870912.",
  },
  vectorStoreBytesMax: {
    name: "VECTOR_STORE_BYTES_MAX",
    section: "Vector stores",
    kind: "integer",
    default: 0,
    defaultText: "no limit",
    min: 0,
    max: 1024 * 1024 * 1024 * MEBIBYTE,
    text: "Most bytes of texts and vectors in the vector stores of one project. 0 sets no limit.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
