import type { VectorModel } from "../../vector-stores/ports/chunks.ts";
import type { ChunkQuestion, ChunksFound, SearchScope } from "../../vector-stores/ports/search.ts";
import type { ErrorMessage } from "../owner/thread/messages.ts";

/** The start data of a search thread. */
export interface SearchThreadData<Place> {
  /** Where the database is. */
  readonly database: Place;
  /** The maximum bytes of vectors cached in memory. */
  readonly vectorBytesMax: number;
}

/** The searched stores. */
export type SearchPlaces = Pick<SearchScope, "owner" | "storeIds">;

export type SearchRequest = { readonly id: number } & (
  | { readonly name: "models"; readonly scope: SearchPlaces }
  | { readonly name: "languages"; readonly scope: SearchPlaces }
  | {
      readonly name: "find";
      readonly scope: SearchScope;
      readonly questions: readonly ChunkQuestion[];
      readonly perKindMax: number;
    }
);

export type SearchAnswer =
  | { readonly id: number; readonly name: "models"; readonly models: readonly VectorModel[] }
  | { readonly id: number; readonly name: "languages"; readonly languages: readonly string[] }
  | { readonly id: number; readonly name: "find"; readonly found: ChunksFound }
  | { readonly id: number; readonly name: "failed"; readonly error: ErrorMessage };
