import type { Encoding } from "./vocabulary.ts";

/** Requests the tokens of several texts from the counting thread. */
export interface CountRequest {
  readonly id: number;
  readonly encoding: Encoding;
  /** The concatenated texts: a message of one text is copied faster than one of thousands. */
  readonly text: string;
  /** The lengths of the texts in characters. */
  readonly lengths: Uint32Array;
}

/** Ends a count early. It is still answered, with the count so far. */
export interface CountStop {
  readonly stop: number;
}

/** The reply to the request with this id. */
export type CountAnswer =
  | { readonly id: number; readonly tokens: number }
  | { readonly id: number; readonly fault: string };
