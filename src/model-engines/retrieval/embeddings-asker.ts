import { isRecord } from "@antiphon/base/json/records.ts";
import {
  type EmbeddingInput,
  type Embeddings,
  type EmbeddingsRequest,
  type EmbeddingVector,
  notOffered,
} from "@antiphon/domain/models/retrieval.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import type { ServerTimeouts } from "../model-server/engine-options.ts";
import { brokenAnswer, invalidInput } from "../model-server/errors/model-errors.ts";
import { isList } from "../model-server/json-values.ts";
import { tokensIn } from "./answer-tokens.ts";
import { askRetrieval, type RetrievalReply } from "./retrieval-call.ts";

/** Numbers of all vectors of a request: 2,048 vectors of 4,096 numbers. */
const NUMBERS_MAX = 2048 * 4096;
const BYTES_A_NUMBER = 4;
/** A text of a base64 vector has no other signs. */
const BASE64 = /^[\w+/]+={0,2}$/;
/** What servers without base64 say. */
const NO_ENCODING = /encoding_format|base64/i;

/** Asks a server for vectors, by `/embeddings` below the path of its API. */
export class EmbeddingsAsker {
  readonly #server: ServerAddress;
  readonly #timeouts: ServerTimeouts;
  /** Whether the server refused to write vectors in base64. */
  #lacksBase64 = false;

  constructor(server: ServerAddress, timeouts: ServerTimeouts) {
    this.#server = server;
    this.#timeouts = timeouts;
  }

  /** One call after the other, so that a request takes one place at the server. */
  async ask(
    request: EmbeddingsRequest,
    batches: readonly (readonly EmbeddingInput[])[],
    signal: AbortSignal,
  ): Promise<Embeddings> {
    const vectors: EmbeddingVector[] = [];
    let tokens: number | null = 0;
    let numbers = 0;
    for (const batch of batches) {
      const answer = await this.#askBatch(request, batch, signal);
      request.onFirst?.();
      for (const vector of readVectors(answer, batch.length)) {
        numbers += numbersIn(vector);
        vectors.push(vector);
      }
      if (numbers > NUMBERS_MAX) throw invalidInput("The vectors of all inputs are too much for one answer.");
      const counted: number | null = tokensIn(answer);
      tokens = tokens === null || counted === null ? null : tokens + counted;
    }
    return { vectors, tokens };
  }

  async #askBatch(request: EmbeddingsRequest, batch: readonly EmbeddingInput[], signal: AbortSignal): Promise<unknown> {
    const inBase64 = request.encoding === "base64" && !this.#lacksBase64;
    const reply = await this.#send(request, batch, inBase64 ? "base64" : "float", signal);
    if (reply.type === "answer") return reply.answer;
    if (reply.isMissing) throw notOffered(request.model, "embeddings");
    if (!inBase64 || reply.error.status !== 400 || !NO_ENCODING.test(reply.error.message)) throw reply.error;
    this.#lacksBase64 = true;
    return await this.#askBatch(request, batch, signal);
  }

  async #send(
    { model, dimensions, user, trace }: EmbeddingsRequest,
    input: readonly EmbeddingInput[],
    encoding_format: EmbeddingsRequest["encoding"],
    signal: AbortSignal,
  ): Promise<RetrievalReply> {
    const body = {
      model,
      input,
      encoding_format,
      ...(dimensions === null ? {} : { dimensions }),
      ...(user === null ? {} : { user }),
    };
    const call = { path: `${this.#server.apiPath}/embeddings`, body, model, api: "embeddings", trace } as const;
    return await askRetrieval(this.#server, call, this.#timeouts, signal);
  }
}

/** The vectors of an answer in the order of their inputs, checked. */
function readVectors(answer: unknown, count: number): readonly EmbeddingVector[] {
  const list: unknown = isRecord(answer) ? answer["data"] : null;
  if (!isList(list) || list.length !== count) throw brokenAnswer("did not send one vector for each input");
  const vectors = new Map<number, EmbeddingVector>();
  for (const [place, element] of list.entries()) {
    const { index, embedding } = isRecord(element) ? element : {};
    vectors.set(typeof index === "number" ? index : place, readVector(embedding));
  }
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index);
    if (vector === undefined) throw brokenAnswer("did not send one vector for each input");
    return vector;
  });
}

function readVector(embedding: unknown): EmbeddingVector {
  if (typeof embedding === "string") {
    const isWhole = BASE64.test(embedding) && Buffer.byteLength(embedding, "base64") % BYTES_A_NUMBER === 0;
    if (isWhole) return embedding;
  } else if (isList(embedding) && embedding.length > 0 && embedding.every(isFiniteNumber)) return embedding;
  throw brokenAnswer("sent something that is no vector");
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function numbersIn(vector: EmbeddingVector): number {
  return typeof vector === "string" ? Buffer.byteLength(vector, "base64") / BYTES_A_NUMBER : vector.length;
}
