import type { StaticChunking, VectorStoreFileError } from "../../../generated/responses-api/types.ts";
import type { ExtractionLimits, NamedBytes } from "../../media/extract-text.ts";
import type { IndexedChunk } from "../ports.ts";

/** A chunk that has no vector yet. */
export type PreparedChunk = Omit<IndexedChunk, "vector">;

/** A file to cut into chunks. The bytes of a message are moved, not copied. */
export interface ChunkTask {
  readonly file: NamedBytes;
  readonly chunking: StaticChunking;
}

/** Asks for the first chunks of a file, or for the next. Each request has one answer, so that nothing piles up. */
export type ChunkRequest = { readonly name: "begin"; readonly task: ChunkTask } | { readonly name: "next" };

export type ChunkAnswer =
  | { readonly name: "chunks"; readonly chunks: readonly PreparedChunk[]; readonly isLast: boolean }
  | { readonly name: "failed"; readonly error: VectorStoreFileError };

/** What the thread is started with. */
export interface ChunkThreadData {
  readonly limits: ExtractionLimits;
  /** Limit of the tokens of one file. */
  readonly tokensMax: number;
}
