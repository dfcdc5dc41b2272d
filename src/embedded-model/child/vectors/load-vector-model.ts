import { basename } from "node:path";
import { type ChildOptions, EMBEDDED_MODEL } from "../child-options.ts";
import type { EmbeddingContext, EngineModel } from "../engine-api.ts";
import { isOfVectors, loadModelFile, ModelRefused, servedName } from "../load-model-file.ts";

/** A model that turns texts into vectors. */
export interface LoadedEncoder {
  readonly model: Pick<EngineModel, "tokenize">;
  readonly context: EmbeddingContext;
  /** The tokens of the longest text, with those that begin and end it. */
  readonly window: number;
  readonly queueMax: number;
  /** Its name, from the file, and the one that every file has. */
  readonly names: readonly [string, string];
}

/** Loads a model for embeddings. Rejects with `ModelRefused`. */
export async function loadVectorModel(
  options: ChildOptions,
  onProgress: (share: number) => void,
): Promise<LoadedEncoder> {
  const { modelPath, threads, windowMax, queueMax } = options;
  const { model } = await loadModelFile(options, onProgress);
  if (!isOfVectors(model))
    throw new ModelRefused(
      `${basename(modelPath)} is a language model (${model.architecture}); EMBEDDING_FILE must be a model for embeddings`,
    );
  const window = Math.min(windowMax, model.trainContextSize);
  // A text is read at once, because an encoder looks in both directions.
  const context = await model.createEmbeddingContext({ contextSize: window, batchSize: window, threads });
  return { model, context, window, queueMax, names: [servedName(modelPath), EMBEDDED_MODEL] };
}
