import type { TraceContext } from "@antiphon/base/trace-context.ts";
import { ModelError } from "./model-error.ts";

/** Who asks for vectors or ranks, and whom. */
interface RetrievalRequest {
  readonly model: string;
  /** The key that asks: waiting requests of several keys take turns. Empty for the server itself. */
  readonly payer: string;
  /** Sent to the model server as the parent trace of the call. */
  readonly trace: TraceContext | null;
  /** Called when the first part of the answer came. */
  readonly onFirst?: () => void;
}

/** What becomes one vector: a text, or the tokens of one. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingsRequest extends RetrievalRequest {
  /** All of one kind, and none is empty. */
  readonly inputs: readonly EmbeddingInput[];
  /** What is preferred. A server may send the other one. */
  readonly encoding: "float" | "base64";
  /** Null for as many as the model makes. */
  readonly dimensions: number | null;
  readonly user: string | null;
}

/** Numbers as the server wrote them, or the bytes of 32-bit floats (little-endian) in base64. */
export type EmbeddingVector = readonly number[] | string;

export interface Embeddings {
  /** One for each input, in their order. */
  readonly vectors: readonly EmbeddingVector[];
  /** The tokens of all inputs; null if the server counted none. */
  readonly tokens: number | null;
}

export interface RanksRequest extends RetrievalRequest {
  readonly query: string;
  readonly documents: readonly string[];
}

export interface Ranks {
  /** How well each document answers the question, in the order of the documents. Higher is better, on any scale. */
  readonly scores: readonly number[];
  /** The tokens of the question and all documents; null if the server counted none. */
  readonly tokens: number | null;
}

/** The refusal of a model that has no embeddings, or no ranks. Another server may have them. */
export function notOffered(model: string, what: "embeddings" | "ranks"): ModelError {
  return new ModelError(`Invalid value: '${model}'. This model has no ${what}.`, {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_value",
    param: "model",
  });
}

/** The part of an engine that has neither embeddings nor ranks. */
export const WITHOUT_RETRIEVAL = {
  embed: async ({ model }: EmbeddingsRequest): Promise<Embeddings> => {
    throw notOffered(model, "embeddings");
  },
  rerank: async ({ model }: RanksRequest): Promise<Ranks> => {
    throw notOffered(model, "ranks");
  },
} as const;
