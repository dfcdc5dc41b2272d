import { ShortLivedMap } from "@antiphon/base/short-lived-map.ts";

export interface UnreadLimits {
  /** Maximum bytes of all replies and messages that were written but not read by their clients. */
  readonly bytesMax: number;
  /** How long a reader may read nothing while bytes wait for it, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** The unread bytes of one reader. */
export interface Unread {
  /** Sets the number of waiting bytes. Call it when the reader has read something, or when bytes wait again. */
  update(bytes: number): void;
}

interface Waiting extends Unread {
  /** Its key among the readers with waiting bytes. */
  place: number;
  bytes: number;
  readAtMs: number;
  readonly cut: () => void;
}

/**
 * Counts the waiting bytes of all readers. Cuts off a reader that reads nothing for too long. When too many bytes wait
 * in total, cuts off the readers that have been idle longest.
 */
export class UnreadBytes {
  readonly #limits: UnreadLimits;
  /** Readers with waiting bytes, in the order of their latest read. */
  readonly #waiting = new ShortLivedMap<number, Waiting>();
  #lastPlace = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a reader without waiting bytes. `cut` must end its reply or connection. */
  open(cut: () => void): Unread {
    const reader: Waiting = { place: 0, bytes: 0, readAtMs: 0, cut, update: (bytes) => this.#update(reader, bytes) };
    return reader;
  }

  #update(reader: Waiting, bytes: number): void {
    this.#waiting.delete(reader.place);
    this.#bytes += bytes - reader.bytes;
    reader.bytes = bytes;
    if (bytes === 0) return;
    reader.readAtMs = performance.now();
    this.#lastPlace += 1;
    reader.place = this.#lastPlace;
    this.#waiting.add(reader.place, reader);
    this.#watch();
    while (this.#bytes > this.#limits.bytesMax && this.#waiting.size > 1) this.#cutSlowest();
  }

  #cutSlowest(): void {
    const [reader] = this.#waiting.values();
    if (reader === undefined) return;
    this.#update(reader, 0);
    reader.cut();
  }

  /** One timer for all readers, set for the one that has been idle longest. */
  #watch(): void {
    if (this.#timer !== null) return;
    const [reader] = this.#waiting.values();
    if (reader === undefined) return;
    const restMs = Math.max(1, reader.readAtMs + this.#limits.idleTimeoutMs - performance.now());
    this.#timer = setTimeout(() => this.#cutIdle(), restMs);
    this.#timer.unref();
  }

  #cutIdle(): void {
    this.#timer = null;
    const before = performance.now() - this.#limits.idleTimeoutMs;
    for (const { readAtMs } of this.#waiting.values()) {
      if (readAtMs > before) break;
      this.#cutSlowest();
    }
    this.#watch();
  }
}
