/** What whoever holds bytes may always hold, so that the large never keep the small out. */
export const SMALL_BYTES = 64 * 1024;

/** How many bytes of one kind the process may hold in memory, all holders together. */
export class ByteBudget {
  readonly bytesMax: number;
  #heldBytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** A further holder, of nothing yet. */
  open(): HeldBytes {
    return new HeldBytes(
      (bytes) => this.#heldBytes + bytes <= this.bytesMax,
      (bytes) => {
        this.#heldBytes += bytes;
      },
    );
  }
}

/** What one holder has of a budget. */
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

  /** False: there is no room for so many more, and nothing was added. */
  add(bytes: number): boolean {
    if (this.#bytes + bytes > SMALL_BYTES && !this.#hasRoom(bytes)) return false;
    this.#bytes += bytes;
    this.#count(bytes);
    return true;
  }

  /** Never removes more than there is. */
  remove(bytes: number): void {
    const removed = Math.min(bytes, this.#bytes);
    this.#bytes -= removed;
    this.#count(-removed);
  }

  release(): void {
    this.remove(this.#bytes);
  }
}
