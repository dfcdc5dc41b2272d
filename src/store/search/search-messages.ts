import type { ChunkQuestion, ChunksFound, SearchScope, VectorModel } from "../../vector-stores/ports.ts";
import type { ErrorMessage } from "../owner/thread/messages.ts";

/** What a search thread is given when it starts. */
export interface SearchThreadData<Place> {
  /** Where the database is. */
  readonly database: Place;
  /** How many bytes of vectors it keeps in memory. */
  readonly vectorBytesMax: number;
}

/** What is searched. */
export type SearchPlaces = Pick<SearchScope, "owner" | "storeIds">;

export type SearchRequest = { readonly id: number } & (
  | { readonly name: "models"; readonly scope: SearchPlaces }
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
