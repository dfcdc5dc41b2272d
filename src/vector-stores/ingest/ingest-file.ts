import type { FileContent, FileStore } from "@antiphon/domain/files.ts";
import type { PreparedChunk } from "../chunks/chunk-messages.ts";
import type { ChunkThread } from "../chunks/chunk-thread.ts";
import { IngestFailed } from "../ingest-failed.ts";
import type { IndexedChunk, VectorModel } from "../ports/chunks.ts";
import type { IngestQueue, IngestTask } from "../ports/ingest.ts";
import { EmbeddingFailed } from "../ports/vectors.ts";
import type { PassageBatches } from "./passage-batches.ts";

export interface FileIngest {
  readonly queue: Pick<IngestQueue, "addChunks">;
  readonly files: Pick<FileStore, "findFile" | "readFile">;
  /** Null if the server searches by words only. */
  readonly embedder: Pick<PassageBatches, "modelName" | "embedPassages"> | null;
  readonly fileBytesMax: number;
}

type PassageEmbedder = NonNullable<FileIngest["embedder"]>;

/** The number of chunks embedded together. They are stored in the smaller batches of the thread. */
const EMBEDDED_TOGETHER = 64;
/** A group of chunks that are stored together. */
type Group = readonly PreparedChunk[];

/**
 * Stores the chunks of a file. `lost`: it was removed or cancelled meanwhile. Throws `IngestFailed` if the file cannot
 * be ingested, the signal's reason, or errors of the stores.
 */
export async function ingestFile(
  { queue, files, embedder, fileBytesMax }: FileIngest,
  thread: Pick<ChunkThread, "chunksOf">,
  task: IngestTask,
  signal: AbortSignal,
): Promise<"stored" | "lost"> {
  const { filename, mimeType, bytes } = await readWhole(files, task, fileBytesMax);
  const groups = thread.chunksOf(
    { file: { filename, mimeType, bytes }, names: namesOf(filename, task), chunking: task.chunking },
    signal,
  );
  let hasChunks = false;
  for await (const some of gatherGroups(groups, embedder === null ? 1 : EMBEDDED_TOGETHER)) {
    const vectors = embedder === null ? null : await vectorsOf(embedder, some.flat());
    for (const group of some) {
      const addition = await queue.addChunks(
        task,
        group.map((chunk) => indexChunk(chunk, vectors)),
        vectorModel(embedder, vectors),
      );
      if (addition === "lost") return "lost";
      if (addition === "full") throw new IngestFailed({ code: "server_error", message: FULL });
      hasChunks = true;
    }
  }
  if (!hasChunks) throw new IngestFailed({ code: "invalid_file", message: "The file holds no text." });
  return "stored";
}

const FULL = "The vector stores of this project hold as many bytes as this server allows (VECTOR_STORE_BYTES_MAX).";

async function readWhole(
  files: FileIngest["files"],
  { owner, fileId }: IngestTask,
  fileBytesMax: number,
): Promise<FileContent> {
  const storedFile = await files.findFile(owner, fileId);
  if (storedFile !== null && storedFile.bytes > fileBytesMax)
    throw new IngestFailed({ code: "invalid_file", message: `The file is larger than ${fileBytesMax} bytes.` });
  const file = storedFile === null ? null : await files.readFile(owner, fileId);
  if (file === null) throw new IngestFailed({ code: "invalid_file", message: "The file is no longer stored." });
  return file;
}

/** The attributes that name a file beside its file name. */
const NAMING_ATTRIBUTES = ["path", "title"];

function namesOf(filename: string, { attributes }: IngestTask): readonly string[] {
  const names = NAMING_ATTRIBUTES.map((key) => attributes?.[key]).filter((value) => typeof value === "string");
  return [...new Set([filename, ...names])];
}

/** Merges groups until they have this many chunks. */
async function* gatherGroups(groups: AsyncIterable<Group>, chunksMin: number): AsyncGenerator<readonly Group[]> {
  let some: Group[] = [];
  let chunks = 0;
  for await (const group of groups) {
    some.push(group);
    chunks += group.length;
    if (chunks < chunksMin) continue;
    yield some;
    [some, chunks] = [[], 0];
  }
  if (some.length > 0) yield some;
}

/** The vectors of chunks by their ordinals. */
type Vectors = ReadonlyMap<number, Float32Array>;

async function vectorsOf(embedder: PassageEmbedder, chunks: Group): Promise<Vectors> {
  try {
    const vectors = await embedder.embedPassages(chunks.map(embeddedText));
    return new Map(
      chunks.flatMap(({ ordinal }, index) => {
        const vector = vectors[index];
        return vector === undefined ? [] : [[ordinal, vector]];
      }),
    );
  } catch (error) {
    if (!(error instanceof EmbeddingFailed)) throw error;
    throw new IngestFailed({ code: "server_error", message: error.message }, error);
  }
}

function indexChunk(chunk: PreparedChunk, vectors: Vectors | null): IndexedChunk {
  return { ...chunk, vector: vectors?.get(chunk.ordinal) ?? null };
}

function vectorModel(embedder: PassageEmbedder | null, vectors: Vectors | null): VectorModel | null {
  const [first] = vectors?.values() ?? [];
  return embedder === null || first === undefined ? null : { name: embedder.modelName, dimensions: first.length };
}

/** The text of a chunk for models: under its headings and columns, without which it is often hard to understand. */
export function embeddedText({ headings, columns, text }: Pick<IndexedChunk, "headings" | "columns" | "text">): string {
  const path = headings.length === 0 ? "" : `${headings.join(" > ")}\n\n`;
  return `${path}${columns === null ? "" : `${columns}\n`}${text}`;
}
