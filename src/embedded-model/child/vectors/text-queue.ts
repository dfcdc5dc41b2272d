import { RequestRefused } from "../request-refused.ts";

interface WaitingTexts {
  readonly texts: readonly string[];
  readonly vectors: Float32Array[];
  readonly signal: AbortSignal;
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (reason: unknown) => void;
}

const BUSY_RETRY_SECONDS = 1;

/**
 * The texts of all requests, of which one is computed at a time. The request with the fewest texts left is next, so
 * that a question need not wait for a large file.
 */
export class TextQueue {
  readonly #compute: (text: string) => Promise<Float32Array>;
  readonly #requestsMax: number;
  readonly #waiting: WaitingTexts[] = [];
  #isWorking = false;

  constructor(compute: (text: string) => Promise<Float32Array>, requestsMax: number) {
    this.#compute = compute;
    this.#requestsMax = requestsMax;
  }

  /** A vector for each text. Rejects with `RequestRefused` if too many wait, or with the signal's reason. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    if (this.#waiting.length >= this.#requestsMax)
      throw new RequestRefused("Too many requests wait for the embedding model.", {
        status: 429,
        code: "server_is_overloaded",
        retryAfterSeconds: BUSY_RETRY_SECONDS,
      });
    const { promise, resolve, reject } = Promise.withResolvers<readonly Float32Array[]>();
    this.#waiting.push({ texts, vectors: [], signal, resolve, reject });
    void this.#work();
    return await promise;
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let next = this.#next(); next !== null; next = this.#next()) await this.#advance(next);
    this.#isWorking = false;
  }

  #next(): WaitingTexts | null {
    const left = ({ texts, vectors }: WaitingTexts): number => texts.length - vectors.length;
    return this.#waiting.toSorted((one, other) => left(one) - left(other))[0] ?? null;
  }

  /** Computes one vector, or removes a request that is over. */
  async #advance(request: WaitingTexts): Promise<void> {
    const { texts, vectors, signal, resolve, reject } = request;
    try {
      signal.throwIfAborted();
      const text = texts[vectors.length];
      if (text !== undefined) vectors.push(await this.#compute(text));
      if (vectors.length < texts.length) return;
      resolve(vectors);
    } catch (error) {
      reject(error);
    }
    this.#waiting.splice(this.#waiting.indexOf(request), 1);
  }
}
