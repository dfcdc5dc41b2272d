import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { Embeddings } from "@antiphon/domain/models/retrieval.ts";
import { type Embedder, EmbeddingFailed, type EmbeddingPurpose } from "../ports/vectors.ts";
import { pauseBeforeRepeat } from "./patience.ts";
import { type EmbeddingPrefixes, prefixedModelName, splitModelName } from "./prefixes.ts";
import { VectorLengths } from "./vector-lengths.ts";
import { vectorsIn } from "./vectors-in.ts";

export interface ModelEmbedderOptions {
  readonly engine: Pick<ModelEngine, "embed">;
  readonly model: string;
  readonly prefixes: EmbeddingPrefixes;
  /** Whether a model of stored vectors is still there. */
  readonly isKnown: (modelName: string) => boolean;
  /** The time limit of one request in milliseconds. */
  readonly timeoutMs: number;
  /** The maximum retries of a request that another attempt may answer. */
  readonly repeatsMax: number;
}

const TEXTS_TOGETHER = 64;

/** Turns texts into vectors by a model that requests can name, too. */
export class ModelEmbedder implements Embedder {
  readonly modelName: string;
  readonly textsTogether = TEXTS_TOGETHER;
  readonly #options: ModelEmbedderOptions;
  readonly #lengths = new VectorLengths("The embedding model");

  constructor(options: ModelEmbedderOptions) {
    this.modelName = prefixedModelName(options.model, options.prefixes);
    this.#options = options;
  }

  async embed(
    modelName: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    if (texts.length === 0) return [];
    const { model, prefixes } = splitModelName(modelName);
    if (!this.#options.isKnown(model)) throw new EmbeddingFailed(`There is no model '${model}' any more.`);
    const prefixedTexts = texts.map((text) => prefixes[purpose] + text);
    const { vectors: embeddings } = await this.#askPatiently(model, prefixedTexts, signal);
    const vectors = vectorsIn({ data: embeddings.map((embedding) => ({ embedding })) }, texts.length);
    return this.#lengths.checked(modelName, vectors);
  }

  async dimensionsOf(modelName: string, signal: AbortSignal): Promise<number> {
    const earlier = this.#lengths.find(modelName);
    if (earlier !== null) return earlier;
    const [vector] = await this.embed(modelName, ["dimensions"], "passage", signal);
    return vector?.length ?? 0;
  }

  async #askPatiently(model: string, texts: readonly string[], signal: AbortSignal): Promise<Embeddings> {
    for (let repeats = 0; ; repeats++) {
      const result = await this.#ask(model, texts, signal);
      if ("vectors" in result) return result;
      const isLasting = result.retry === "never" || repeats >= this.#options.repeatsMax;
      if (isLasting)
        throw new EmbeddingFailed(`The embedding model failed. ${plainText(result)}`, {
          cause: result,
          dependsOnTexts: result.retry === "never",
        });
      const askedMs = result.retryAfterSeconds === null ? null : result.retryAfterSeconds * 1000;
      await pauseBeforeRepeat(repeats, askedMs, signal);
    }
  }

  async #ask(model: string, texts: readonly string[], signal: AbortSignal): Promise<Embeddings | ModelError> {
    const { engine, timeoutMs } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    const request = {
      model,
      inputs: texts,
      encoding: "base64",
      dimensions: null,
      user: null,
      payer: "",
      trace: null,
    } as const;
    try {
      return await engine.embed(request, AbortSignal.any([signal, deadline]));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ModelError) return error;
      if (deadline.aborted) throw new EmbeddingFailed("The embedding model did not answer in time.", { cause: error });
      throw error;
    }
  }
}

/** Without quotes of the server. */
function plainText({ message, quoted }: ModelError): string {
  return quoted === null ? message : message.replace(quoted, "…");
}
