import type { Setting } from "../setting.ts";

const MEBIBYTE = 1024 * 1024;

/** Vector stores: how files are taken in, and the embeddings server by which they are searched by meaning. */
export const VECTOR_STORE_SETTINGS = {
  embeddingModel: {
    name: "EMBEDDING_MODEL",
    section: "Vector stores",
    kind: "string",
    default: null,
    defaultText: "none: vector stores are searched by words only",
    text: "Embedding model by which vector stores are also searched by meaning. After a change, stored files get new vectors in the background, and the old ones serve until then.",
  },
  embeddingBaseUrl: {
    name: "EMBEDDING_BASE_URL",
    section: "Vector stores",
    kind: "url",
    default: null,
    defaultText: "the model server",
    text: "OpenAI-compatible server with /embeddings, such as http://127.0.0.1:11434/v1. It is used if EMBEDDING_MODEL is set.",
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
    text: "Limit of one request to the embeddings server, which has up to 64 texts. Searches wait at most 10 seconds and then go by words.",
  },
  embeddingCacheBytes: {
    name: "EMBEDDING_CACHE_BYTES",
    section: "Vector stores",
    kind: "integer",
    default: 256 * MEBIBYTE,
    min: 0,
    max: 1024 * 1024 * MEBIBYTE,
    text: "Most memory for the vectors of stores that were searched lately, in bytes. Others are read from the disk again.",
  },
  ingestWorkers: {
    name: "INGEST_WORKERS",
    section: "Vector stores",
    kind: "integer",
    default: 2,
    min: 0,
    max: 64,
    text: "How many files each process takes into vector stores at the same time, each in a thread of its own. With 0 it leaves them to other processes.",
  },
  ingestFileBytesMax: {
    name: "INGEST_FILE_BYTES_MAX",
    section: "Vector stores",
    kind: "integer",
    default: 128 * MEBIBYTE,
    min: 1,
    max: 512 * MEBIBYTE,
    text: "Largest file that is taken into a vector store, in bytes. It is held in memory meanwhile, so the default is a quarter of what the reference takes; 536870912 is as much.",
  },
  vectorStoreBytesMax: {
    name: "VECTOR_STORE_BYTES_MAX",
    section: "Vector stores",
    kind: "integer",
    default: 0,
    defaultText: "no limit",
    min: 0,
    max: 1024 * 1024 * 1024 * MEBIBYTE,
    text: "Most bytes that the vector stores of one project hold: their texts and vectors. 0 sets no limit.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
