import { RequestRefused } from "../request-refused.ts";

interface WaitingTexts<Result> {
  readonly texts: readonly string[];
  readonly results: Result[];
  readonly signal: AbortSignal;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
}

const BUSY_RETRY_SECONDS = 1;

/**
 * The texts of all requests, of which one is computed at a time. The request with the fewest texts left is next, so
 * that a question need not wait for a large file.
 */
export class TextQueue<Result> {
  readonly #compute: (text: string) => Promise<Result>;
  readonly #requestsMax: number;
  readonly #waiting: WaitingTexts<Result>[] = [];
  #isWorking = false;

  constructor(compute: (text: string) => Promise<Result>, requestsMax: number) {
    this.#compute = compute;
    this.#requestsMax = requestsMax;
  }

  /** A result for each text. Rejects with `RequestRefused` if too many wait, or with the signal's reason. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Result[]> {
    if (this.#waiting.length >= this.#requestsMax)
      throw new RequestRefused("Too many requests wait for the embedding model.", {
        status: 429,
        code: "server_is_overloaded",
        retryAfterSeconds: BUSY_RETRY_SECONDS,
      });
    const { promise, resolve, reject } = Promise.withResolvers<readonly Result[]>();
    this.#waiting.push({ texts, results: [], signal, resolve, reject });
    void this.#work();
    return await promise;
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let next = this.#next(); next !== null; next = this.#next()) await this.#advance(next);
    this.#isWorking = false;
  }

  #next(): WaitingTexts<Result> | null {
    const left = ({ texts, results }: WaitingTexts<Result>): number => texts.length - results.length;
    return this.#waiting.toSorted((one, other) => left(one) - left(other))[0] ?? null;
  }

  /** Computes one result, or removes a request that is over. */
  async #advance(request: WaitingTexts<Result>): Promise<void> {
    const { texts, results, signal, resolve, reject } = request;
    try {
      signal.throwIfAborted();
      const text = texts[results.length];
      if (text !== undefined) results.push(await this.#compute(text));
      if (results.length < texts.length) return;
      resolve(results);
    } catch (error) {
      reject(error);
    }
    this.#waiting.splice(this.#waiting.indexOf(request), 1);
  }
}
