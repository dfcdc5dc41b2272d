import { EmbeddingFailed } from "../ports/vectors.ts";

/** The vector length of each model, from its first reply. Vectors of other lengths cannot be compared. */
export class VectorLengths {
  readonly #lengths = new Map<string, number>();
  readonly #source: string;

  /** `source`: who sends the vectors, as the subject of a sentence. */
  constructor(source: string) {
    this.#source = source;
  }

  /** Null before the first reply of the model. */
  find(model: string): number | null {
    return this.#lengths.get(model) ?? null;
  }

  /** Returns the vectors of one length. Throws `EmbeddingFailed` if it is not that of the model. */
  checked(model: string, vectors: readonly Float32Array[]): readonly Float32Array[] {
    const length = vectors[0]?.length ?? 0;
    const earlier = this.#lengths.get(model) ?? length;
    this.#lengths.set(model, earlier);
    if (length !== earlier) throw new EmbeddingFailed(`${this.#source} changed the length of its vectors.`);
    return vectors;
  }
}
