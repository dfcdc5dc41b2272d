import type { Logger } from "@antiphon/base/logger.ts";
import type { VectorModel } from "../ports/chunks.ts";
import { type Embedder, EmbeddingFailed, type StaleFile, type VectorRenewal } from "../ports/vectors.ts";
import { embeddedText } from "./ingest-file.ts";

export interface RenewalParts {
  readonly renewal: VectorRenewal;
  readonly embedder: Embedder;
  readonly log: Logger;
}

const CHUNKS_AT_ONCE = 64;
/** After this many failures, the server is not called until the next time. */
const FAILURES_MAX = 3;

/**
 * Replaces missing vectors and vectors of other models by vectors of the embedder's model, then erases unused ones.
 * Returns false if some files could not be embedded. Rejects with the signal's reason if the signal aborts.
 */
export async function renewVectors({ renewal, embedder, log }: RenewalParts, signal: AbortSignal): Promise<boolean> {
  const { modelName } = embedder;
  if ((await renewal.findStale(modelName, null, 0)) === null) return true;
  let failures = 0;
  try {
    const model = { name: modelName, dimensions: await embedder.dimensionsOf(modelName, signal) };
    await renewal.switchStores(model); // Stores whose last file was finished just before a crash.
    let count = 0;
    for (let after = 0; ; ) {
      const file = await renewal.findStale(modelName, model.dimensions, after);
      if (file === null) break;
      after = file.number;
      const isRenewed = await renewFile({ renewal, embedder, log }, file, model, signal);
      if (isRenewed) count += 1;
      else failures += 1;
      if (failures >= FAILURES_MAX) break;
    }
    if (count > 0) log.info({ files: count }, "files in vector stores now have vectors of the embedding model");
  } catch (error) {
    if (!(error instanceof EmbeddingFailed)) throw error;
    log.warn({ err: error }, "embedding server failed; files keep their old vectors");
    failures += 1;
  }
  while (await renewal.eraseOld()) signal.throwIfAborted();
  return failures === 0;
}

/** Returns false if the file could not be embedded. Completed parts are kept. */
async function renewFile(
  { renewal, embedder, log }: RenewalParts,
  file: StaleFile,
  model: VectorModel,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    for (;;) {
      const chunks = await renewal.readChunks(file, model, CHUNKS_AT_ONCE);
      if (chunks.length === 0) break;
      const vectors = await embedder.embed(model.name, chunks.map(embeddedText), "passage", signal);
      const keyedVectors = chunks.flatMap(({ key }, index) => {
        const vector = vectors[index];
        return vector === undefined ? [] : [{ key, vector }];
      });
      if (!(await renewal.addVectors(file, model, keyedVectors))) return true; // The file is gone.
    }
    await renewal.finishFile(file, model);
    return true;
  } catch (error) {
    if (!(error instanceof EmbeddingFailed)) throw error;
    log.warn({ err: error, file: file.number }, "file keeps its old vectors");
    return false;
  }
}
