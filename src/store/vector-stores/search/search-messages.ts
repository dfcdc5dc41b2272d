import type { ChunkQuestion, ChunksFound, SearchScope, VectorModel } from "../../../vector-stores/ports.ts";
import type { ErrorMessage } from "../../thread/messages.ts";

/** What the search thread is given when it starts. */
export interface SearchThreadData {
  /** Path of the database. */
  readonly file: string;
  /** How many bytes of vectors it keeps in memory. */
  readonly vectorBytesMax: number;
}

export type SearchRequest = { readonly id: number } & (
  | { readonly name: "models"; readonly scope: Pick<SearchScope, "owner" | "storeIds"> }
  | {
      readonly name: "find";
      readonly scope: SearchScope;
      readonly questions: readonly ChunkQuestion[];
      readonly perKindMax: number;
    }
);

export type SearchAnswer =
  | { readonly id: number; readonly name: "models"; readonly models: readonly VectorModel[] }
  | { readonly id: number; readonly name: "find"; readonly found: ChunksFound }
  | { readonly id: number; readonly name: "failed"; readonly error: ErrorMessage };
