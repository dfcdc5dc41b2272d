import type { StaticChunking, VectorStoreFileError } from "@antiphon/contracts/responses-api/types.ts";
import type { ExtractionLimits, NamedBytes } from "@antiphon/media/extract-text.ts";
import type { IndexedChunk } from "../ports/chunks.ts";

/** A chunk without its vector. */
export type PreparedChunk = Omit<IndexedChunk, "vector">;

/** A file to cut into chunks. The bytes of a message are moved, not copied. */
export interface ChunkTask {
  readonly file: NamedBytes;
  /** Names under which the file is looked for, such as its path. They are searched with each chunk. */
  readonly names: readonly string[];
  readonly chunking: StaticChunking;
}

/** Requests the first or the next chunks of a file. Each request has one reply, so that nothing piles up. */
export type ChunkRequest = { readonly name: "begin"; readonly task: ChunkTask } | { readonly name: "next" };

/** A chunk in a message. Its words are joined by blanks: one text is copied to another thread faster than hundreds. */
export type SentChunk = Omit<PreparedChunk, "words"> & { readonly words: string };

export type ChunkAnswer =
  | { readonly name: "chunks"; readonly chunks: readonly SentChunk[]; readonly isLast: boolean }
  | { readonly name: "failed"; readonly error: VectorStoreFileError };

/** The start data of the thread. */
export interface ChunkThreadData {
  readonly limits: ExtractionLimits;
  /** The maximum tokens of one file. */
  readonly tokensMax: number;
}
