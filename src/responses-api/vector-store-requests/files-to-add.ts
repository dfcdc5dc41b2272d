import type {
  ChunkingStrategyInput,
  CreateVectorStoreFileBatchRequest,
  CreateVectorStoreFileRequest,
  CreateVectorStoreRequest,
  FileAttributes,
  StaticChunking,
} from "@antiphon/contracts/responses-api/types.ts";
import type { NewStoreFile, NewVectorStore } from "@antiphon/domain/vector-stores.ts";
import { missingParameter, mutuallyExclusive } from "../errors/parameter-errors.ts";
import { rangeError } from "../errors/validation/limit-error.ts";

/** The meaning of `auto`, and the default. */
const AUTO_CHUNKING: StaticChunking = { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 };

export function storeToCreate(request: CreateVectorStoreRequest): NewVectorStore {
  return {
    name: request.name ?? "",
    description: request.description ?? null,
    metadata: request.metadata ?? {},
    expiresAfterDays: request.expires_after?.days ?? null,
  };
}

/** The first files of a new store. Throws an `ApiError`. */
export function filesOfNewStore({ file_ids, chunking_strategy }: CreateVectorStoreRequest): readonly NewStoreFile[] {
  const chunking = chunkingOf(chunking_strategy, "chunking_strategy");
  return [...new Set(file_ids)].map((fileId) => ({ fileId, attributes: {}, chunking }));
}

/** `path`: the file's path in the request, with its dot; empty for the request itself. Throws an `ApiError`. */
export function fileToAdd(request: CreateVectorStoreFileRequest, path = ""): NewStoreFile {
  return {
    fileId: request.file_id,
    attributes: attributesOf(request.attributes),
    chunking: chunkingOf(request.chunking_strategy, `${path}chunking_strategy`),
  };
}

/**
 * The files of a batch, without duplicates: the last entry for a file counts. Throws an `ApiError`, also if the request
 * has both lists or none.
 */
export function filesOfBatch(request: CreateVectorStoreFileBatchRequest): readonly NewStoreFile[] {
  const { file_ids: ids, files } = request;
  if (ids !== undefined && files !== undefined) throw mutuallyExclusive("file_ids", "files");
  if (files !== undefined) {
    const entries = files.map((file, index) => fileToAdd(file, `files[${index}].`));
    return [...new Map(entries.map((entry) => [entry.fileId, entry])).values()];
  }
  if (ids === undefined) throw missingParameter("file_ids");
  const attributes = attributesOf(request.attributes);
  const chunking = chunkingOf(request.chunking_strategy, "chunking_strategy");
  return [...new Set(ids)].map((fileId) => ({ fileId, attributes, chunking }));
}

/** A file without attributes is shown with none; null means the same. */
export function attributesOf(attributes: FileAttributes | null | undefined): FileAttributes {
  return attributes ?? {};
}

/**
 * The sizes of a strategy. `param`: its path in the request. Throws an `ApiError` if chunks would overlap by more than
 * half.
 */
function chunkingOf(strategy: ChunkingStrategyInput | null | undefined, param: string): StaticChunking {
  if (strategy?.type !== "static") return AUTO_CHUNKING;
  const { max_chunk_size_tokens: size, chunk_overlap_tokens: overlap } = strategy.static;
  const overlapMax = Math.floor(size / 2);
  if (overlap > overlapMax)
    throw rangeError("maximum", `${param}.static.chunk_overlap_tokens`, overlapMax, {
      got: String(overlap),
      isInteger: true,
    });
  return { max_chunk_size_tokens: size, chunk_overlap_tokens: overlap };
}
