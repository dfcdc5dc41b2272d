import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddingServer } from "../../../src/vector-stores/embeddings/embedding-server.ts";
import { NO_PREFIXES } from "../../../src/vector-stores/embeddings/prefixes.ts";
import { FOLDER, startEmbeddings } from "./python.ts";

export const MODEL = "all-MiniLM-L6-v2";
const DIMENSIONS = 384;
const TIMEOUT_MS = 600_000;

/** The vectors of each list of texts. They are kept in a file, because the model takes a minute for them. */
export async function embedOnce(lists: readonly (readonly string[])[]): Promise<readonly (readonly Float32Array[])[]> {
  const vectors: (readonly Float32Array[])[] = [];
  for (const texts of lists) vectors.push(await embedList(texts));
  return vectors;
}

async function embedList(texts: readonly string[]): Promise<readonly Float32Array[]> {
  const name = createHash("sha256").update(JSON.stringify(texts)).digest("hex");
  const path = join(FOLDER, `${name}.f32`);
  if (!existsSync(path)) writeFileSync(path, Buffer.concat((await askModel(texts)).map(bytesOf)));
  const bytes = readFileSync(path);
  return texts.map((_, index) =>
    Float32Array.from({ length: DIMENSIONS }, (_empty, k) => bytes.readFloatLE((index * DIMENSIONS + k) * 4)),
  );
}

function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

async function askModel(texts: readonly string[]): Promise<readonly Float32Array[]> {
  const server = await startEmbeddings();
  const options = {
    baseUrl: server.url,
    apiKey: null,
    model: MODEL,
    prefixes: NO_PREFIXES,
    timeoutMs: TIMEOUT_MS,
    repeatsMax: 0,
  };
  try {
    return await new EmbeddingServer(options).embed(MODEL, texts, "passage", new AbortController().signal);
  } finally {
    server.stop();
  }
}
