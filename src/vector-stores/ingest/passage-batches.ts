import { type Embedder, EmbeddingFailed } from "../ports/vectors.ts";

interface WaitingTexts {
  readonly texts: readonly string[];
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Embeds the texts of several files together. While as many requests run as may, further texts wait, and the next
 * request takes as many of them as fit; so nothing waits for a timer. The number of waiting files is the caller's.
 */
export class PassageBatches {
  readonly modelName: string;
  readonly #embedder: Embedder;
  readonly #requestsMax: number;
  readonly #stopping: AbortSignal;
  #waiting: WaitingTexts[] = [];
  #requests = 0;

  constructor(embedder: Embedder, requestsMax: number, stopping: AbortSignal) {
    this.modelName = embedder.modelName;
    this.#embedder = embedder;
    this.#requestsMax = requestsMax;
    this.#stopping = stopping;
  }

  /** Rejects like `Embedder.embed`. A text that the model refuses fails only the file that it comes from. */
  async embedPassages(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Float32Array[]>();
    this.#waiting.push({ texts, resolve, reject });
    this.#sendNext();
    return await promise;
  }

  #sendNext(): void {
    if (this.#requests >= this.#requestsMax || this.#waiting.length === 0) return;
    const batch = this.#takeBatch();
    this.#requests += 1;
    void this.#send(batch).finally(() => {
      this.#requests -= 1;
      this.#sendNext();
    });
  }

  /** The oldest texts: of one file at least, of more while they fit together. */
  #takeBatch(): readonly WaitingTexts[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ texts }, index) => {
      count += texts.length;
      return index > 0 && count > this.#embedder.textsTogether;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #send(batch: readonly WaitingTexts[]): Promise<void> {
    try {
      const vectors = await this.#embed(batch.flatMap(({ texts }) => texts));
      let start = 0;
      for (const { texts, resolve } of batch) resolve(vectors.slice(start, (start += texts.length)));
    } catch (error) {
      if (batch.length > 1 && error instanceof EmbeddingFailed && error.dependsOnTexts)
        for (const file of batch) await this.#send([file]);
      else for (const { reject } of batch) reject(error);
    }
  }

  async #embed(texts: readonly string[]): Promise<readonly Float32Array[]> {
    return await this.#embedder.embed(this.modelName, texts, "passage", this.#stopping);
  }
}
