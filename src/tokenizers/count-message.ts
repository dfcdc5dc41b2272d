import type { Encoding } from "./vocabulary.ts";

/** Asks the counting thread for the tokens of several texts. */
export interface CountRequest {
  readonly id: number;
  readonly encoding: Encoding;
  /** The texts one behind the other: a message of one text is copied faster than one of thousands. */
  readonly text: string;
  /** The lengths of the texts in characters. */
  readonly lengths: Uint32Array;
}

/** Ends a count early. It is still answered, with the count so far. */
export interface CountStop {
  readonly stop: number;
}

/** The answer to the request with this id. */
export type CountAnswer =
  | { readonly id: number; readonly tokens: number }
  | { readonly id: number; readonly fault: string };
