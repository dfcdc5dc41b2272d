/** The start data of the thread. */
export interface ModelThreadData {
  readonly path: string;
}

/** A text, with its prefix. Each has one answer, and the next is sent after it. */
export interface EncodeRequest {
  readonly text: string;
}

export type EncodeAnswer =
  | { readonly type: "vector"; readonly vector: Float32Array }
  /** The file cannot be used. The message is the end of a sentence about it. */
  | { readonly type: "unusable"; readonly message: string };
