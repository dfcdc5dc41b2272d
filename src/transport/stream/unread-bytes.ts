export interface UnreadLimits {
  /** What replies and messages that were written and not yet taken may hold, all together. */
  readonly bytesMax: number;
  /** How long a reader may take nothing of what waits for it. */
  readonly patienceMs: number;
}

/** What waits for one reader. */
export interface Unread {
  /** Says how much waits now, whenever the reader took something or more came after it had taken all. */
  update(bytes: number): void;
}

interface Waiting extends Unread {
  bytes: number;
  readAtMs: number;
  readonly cut: () => void;
}

/**
 * Everything that waits for readers. Cuts whoever takes nothing for too long and, when too much waits, whoever has
 * taken nothing for longest.
 */
export class UnreadBytes {
  readonly #limits: UnreadLimits;
  /** Those who have anything waiting; who took something last is last. */
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A reader for whom nothing waits yet. `cut` ends its reply or connection. */
  open(cut: () => void): Unread {
    const reader: Waiting = { bytes: 0, readAtMs: 0, cut, update: (bytes) => this.#update(reader, bytes) };
    return reader;
  }

  #update(reader: Waiting, bytes: number): void {
    this.#waiting.delete(reader);
    this.#bytes += bytes - reader.bytes;
    reader.bytes = bytes;
    if (bytes === 0) return;
    reader.readAtMs = performance.now();
    this.#waiting.add(reader);
    this.#watch();
    while (this.#bytes > this.#limits.bytesMax && this.#waiting.size > 1) this.#cutFirst();
  }

  #cutFirst(): void {
    const [reader] = this.#waiting;
    if (reader === undefined) return;
    this.#update(reader, 0);
    reader.cut();
  }

  /** One clock for all: it looks at whoever has taken nothing for longest. */
  #watch(): void {
    if (this.#timer !== null) return;
    const [reader] = this.#waiting;
    if (reader === undefined) return;
    const restMs = Math.max(1, reader.readAtMs + this.#limits.patienceMs - performance.now());
    this.#timer = setTimeout(() => this.#look(), restMs);
    this.#timer.unref();
  }

  #look(): void {
    this.#timer = null;
    const before = performance.now() - this.#limits.patienceMs;
    for (const { readAtMs } of this.#waiting) {
      if (readAtMs > before) break;
      this.#cutFirst();
    }
    this.#watch();
  }
}
