import type { Logger } from "@antiphon/base/logger.ts";
import type { ClaimedKey, CreateKeyStore } from "@antiphon/domain/create-keys.ts";

/**
 * How long a run with a key goes on after its client has left, in milliseconds, so that the client can repeat its
 * request. The official SDKs wait at most 8 s between two attempts. A client that leaves for good wastes this time.
 */
export const LEFT_RUN_MS = 10_000;

/** What is told of a run that a repeated request may find. */
export interface RunHold {
  /** The worker that holds the key of the request; null if it has none. */
  readonly worker: number | null;
  /** Says which response it is, before its model is asked. */
  name(responseId: string): Promise<void>;
  /** The response exists. */
  begin(): void;
  /** A tool is about to change something. */
  act(): void;
  /** This process is done with the run. */
  end(): void;
  /** Nothing was created. */
  release(): Promise<void>;
}

/** The right of this process to create what a key stands for. */
export class KeyHold implements RunHold {
  readonly #store: CreateKeyStore;
  readonly #claimedKey: ClaimedKey;
  readonly #log: Logger;
  #hasBegun = false;
  #isOver = false;

  constructor(store: CreateKeyStore, claimedKey: ClaimedKey, log: Logger) {
    this.#store = store;
    this.#claimedKey = claimedKey;
    this.#log = log;
  }

  get worker(): number {
    return this.#claimedKey.worker;
  }

  /** Says which response it is, before its model is asked. */
  async name(responseId: string): Promise<void> {
    await this.#store.name(this.#claimedKey, responseId);
  }

  /** The response exists. */
  begin(): void {
    this.#hasBegun = true;
    if (this.#isOver) this.#settle();
  }

  /** A run with a key is kept for its client anyway. */
  act(): void {}

  /** This process is done with the run. A run that was refused has not begun. */
  end(): void {
    this.#isOver = true;
    if (this.#hasBegun) this.#settle();
  }

  /** What was created is kept, and repeated requests get this answer. */
  async answer(text: string): Promise<void> {
    [this.#hasBegun, this.#isOver] = [true, true];
    await this.#store.settle(this.#claimedKey, text);
  }

  /** Runs `work`, and frees the key if it rejects before the response exists. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /** Nothing was created: the next request with the key is the first one. Does nothing once the response exists. */
  async release(): Promise<void> {
    if (this.#hasBegun) return;
    await this.#store.release(this.#claimedKey).catch((error: unknown) => this.#report(error));
  }

  /**
   * The signal for a run whose client may come back: it aborts a while after the client has left, unless the request
   * was repeated by then. A run that is not stored cannot be shown again, so it ends with its client.
   */
  signalFor(client: AbortSignal): AbortSignal {
    if (!this.#claimedKey.key.isKept) return client;
    const controller = new AbortController();
    const leave = (): void => {
      const timer = setTimeout(() => void this.#endUnwanted(controller), LEFT_RUN_MS);
      timer.unref();
    };
    if (client.aborted) controller.abort(client.reason);
    else client.addEventListener("abort", leave, { once: true });
    return controller.signal;
  }

  async #endUnwanted(controller: AbortController): Promise<void> {
    if (this.#isOver) return;
    const { owner, key } = this.#claimedKey;
    const subject = await this.#store.find(owner, key).catch(() => null);
    if (subject === null || subject.repeats === 0) controller.abort();
  }

  /** The store retries it while it is down. */
  #settle(): void {
    this.#store.settle(this.#claimedKey, null).catch((error: unknown) => this.#report(error));
  }

  #report(error: unknown): void {
    this.#log.warn({ err: error }, "the key of a create request could not be written");
  }
}
