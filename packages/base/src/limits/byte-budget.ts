/** Each holder may always hold this many bytes, so that large requests never block small ones. */
export const SMALL_BYTES = 64 * 1024;

/** Limits the bytes of one kind that all holders of the process keep in memory together. */
export class ByteBudget {
  readonly bytesMax: number;
  #heldBytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Adds an empty holder. */
  open(): HeldBytes {
    return new HeldBytes(
      (bytes) => this.#heldBytes + bytes <= this.bytesMax,
      (bytes) => {
        this.#heldBytes += bytes;
      },
    );
  }
}

/** One holder's share of a budget. */
export class HeldBytes {
  readonly #hasRoom: (bytes: number) => boolean;
  readonly #count: (bytes: number) => void;
  #bytes = 0;

  constructor(hasRoom: (bytes: number) => boolean, count: (bytes: number) => void) {
    this.#hasRoom = hasRoom;
    this.#count = count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns false, and adds nothing, if the budget has no room for these bytes. */
  add(bytes: number): boolean {
    if (this.#bytes + bytes > SMALL_BYTES && !this.#hasRoom(bytes)) return false;
    this.#bytes += bytes;
    this.#count(bytes);
    return true;
  }

  /** Removes at most the held bytes. */
  remove(bytes: number): void {
    const freedBytes = Math.min(bytes, this.#bytes);
    this.#bytes -= freedBytes;
    this.#count(-freedBytes);
  }

  release(): void {
    this.remove(this.#bytes);
  }
}
