import { ShortLivedMap } from "@antiphon/base/short-lived-map.ts";

/** One request or socket that a stopping server waits for. */
export interface Flight {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  end(): void;
}

/** All requests and sockets being served. A stopping server waits until there are none. */
export class InFlight {
  /** Keyed by the numbers of their beginnings. */
  readonly #flights = new ShortLivedMap<number, Flight>();
  #count = 0;
  readonly #whenEmpty = new Set<() => void>();
  readonly #stopping = new AbortController();
  #leaving = false;

  /** True once the server is stopping and accepts no more requests. */
  get draining(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * True once the server is known to stop soon. Replies then close their connections, so that clients go to another
   * server.
   */
  get leaving(): boolean {
    return this.#leaving || this.draining;
  }

  /** Aborts when the server begins to stop. */
  get whenDraining(): AbortSignal {
    return this.#stopping.signal;
  }

  begin(): Flight {
    const controller = new AbortController();
    this.#count += 1;
    const number = this.#count;
    const flight: Flight = {
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      end: () => this.#end(number),
    };
    this.#flights.add(number, flight);
    return flight;
  }

  announceLeaving(): void {
    this.#leaving = true;
  }

  startDraining(): void {
    this.#stopping.abort();
  }

  abortAll(reason: Error): void {
    for (const flight of this.#flights.values()) flight.abort(reason);
  }

  /** Resolves when nothing is being served, or when `until` aborts. */
  async waitUntilEmpty(until: AbortSignal): Promise<void> {
    if (this.#flights.size === 0 || until.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    until.addEventListener("abort", () => resolve(), { once: true });
    this.#whenEmpty.add(resolve);
    await promise;
    this.#whenEmpty.delete(resolve);
  }

  #end(number: number): void {
    this.#flights.delete(number);
    if (this.#flights.size > 0) return;
    for (const resolve of this.#whenEmpty) resolve();
  }
}
