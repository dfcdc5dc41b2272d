/** One request or socket that a stopping server waits for. */
export interface Flight {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  end(): void;
}

/** Everything that is being served, so that a server can stop when it is done. */
export class InFlight {
  readonly #flights = new Set<Flight>();
  readonly #whenEmpty = new Set<() => void>();
  readonly #stopping = new AbortController();
  #leaving = false;

  /** True once the server is stopping and takes no further requests. */
  get draining(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * True once it is known that the server will stop: replies then close their connections, so that clients look
   * elsewhere.
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
    const flight: Flight = {
      signal: controller.signal,
      abort: (reason) => controller.abort(reason),
      end: () => this.#end(flight),
    };
    this.#flights.add(flight);
    return flight;
  }

  announceLeaving(): void {
    this.#leaving = true;
  }

  startDraining(): void {
    this.#stopping.abort();
  }

  abortAll(reason: Error): void {
    for (const flight of this.#flights) flight.abort(reason);
  }

  /** Resolves when nothing is being served, or when `ms` have passed. */
  async emptied(ms: number): Promise<void> {
    if (this.#flights.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#whenEmpty.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#whenEmpty.delete(resolve);
  }

  #end(flight: Flight): void {
    this.#flights.delete(flight);
    if (this.#flights.size > 0) return;
    for (const resolve of this.#whenEmpty) resolve();
  }
}
