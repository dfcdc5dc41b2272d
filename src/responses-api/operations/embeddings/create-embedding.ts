import { Slices } from "@antiphon/base/limits/slices.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateEmbeddingsRequest, Embedding } from "@antiphon/contracts/responses-api/types.ts";
import type { EmbeddingInput, EmbeddingsRequest, EmbeddingVector } from "@antiphon/domain/models/retrieval.ts";
import type { Caller } from "../../access/caller.ts";
import type { KeyAccounts } from "../../access/key-accounts.ts";
import { type RetrievalContext, RetrievalWork } from "./retrieval-work.ts";

/** `POST /v1/embeddings`: the vectors of texts. */
export function createEmbedding(
  context: RetrievalContext,
  accounts: KeyAccounts,
): ResponsesApiHandlers<Caller>["createEmbedding"] {
  const work = new RetrievalWork(context, accounts);
  return async ({ body }, caller) => {
    const { model, encoding_format: encoding = "float" } = body;
    const request = requestOf(body, caller);
    const { answer, usage, headers } = await work.do(caller, {
      model,
      inputs: request.inputs,
      ask: (onAnsweredBy) => context.engine.embed(request, caller.signal, onAnsweredBy),
    });
    const data = await shownVectors(answer.vectors, encoding);
    return { status: 200, headers, body: { object: "list", data, model, usage } };
  };
}

function requestOf(
  { model, input, encoding_format, dimensions, user }: CreateEmbeddingsRequest,
  { principal, trace }: Caller,
): EmbeddingsRequest {
  return {
    model,
    inputs: inputsOf(input),
    encoding: encoding_format ?? "float",
    dimensions: dimensions ?? null,
    user: user ?? null,
    payer: principal.keyId,
    trace,
  };
}

/** A list of numbers is one input. */
function inputsOf(input: CreateEmbeddingsRequest["input"]): readonly EmbeddingInput[] {
  if (typeof input === "string") return [input];
  const tokens = input.filter((element) => typeof element === "number");
  return tokens.length > 0 ? [tokens] : input.filter((element) => typeof element !== "number");
}

/** The vectors in the encoding that was asked for. Conversions take several turns of the event loop. */
async function shownVectors(
  vectors: readonly EmbeddingVector[],
  encoding: EmbeddingsRequest["encoding"],
): Promise<Embedding[]> {
  const slices = new Slices();
  const shown: Embedding[] = [];
  for (const [index, vector] of vectors.entries()) {
    shown.push({ object: "embedding", index, embedding: encoding === "base64" ? inBase64(vector) : inNumbers(vector) });
    await slices.pause();
  }
  return shown;
}

const FLOAT_BYTES = 4;

function inBase64(vector: EmbeddingVector): string {
  if (typeof vector === "string") return vector;
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * FLOAT_BYTES);
  return bytes.toString("base64");
}

function inNumbers(vector: EmbeddingVector): number[] {
  if (typeof vector !== "string") return [...vector];
  const bytes = Buffer.from(vector, "base64");
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, place) => bytes.readFloatLE(place * FLOAT_BYTES));
}
