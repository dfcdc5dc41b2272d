/** The bytes end before what was to be read. */
export class BitsExhausted extends Error {
  override readonly name = "BitsExhausted";
}

/** Reads numbers of any width up to 32 bits, the most significant bit first. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #place: number;
  /** Bits of the byte at `#place` that are still to be read. */
  #left = 8;

  constructor(bytes: Uint8Array, place: number) {
    this.#bytes = bytes;
    this.#place = place;
  }

  /** The next whole byte, once `align` was called. */
  get place(): number {
    return this.#place;
  }

  read(bits: number): number {
    let value = 0;
    let wanted = bits;
    while (wanted > 0) {
      const taken = Math.min(wanted, this.#left);
      const byte = this.#byte();
      value = value * 2 ** taken + ((byte >> (this.#left - taken)) & ((1 << taken) - 1));
      this.#advance(taken);
      wanted -= taken;
    }
    return value;
  }

  /** A number of two's complement. */
  readSigned(bits: number): number {
    const value = this.read(bits);
    return value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
  }

  /** How many zeros stand before the next one, which is read as well. */
  readUnary(): number {
    let zeros = 0;
    for (;;) {
      const rest = this.#byte() & ((1 << this.#left) - 1);
      if (rest === 0) {
        zeros += this.#left;
        this.#advance(this.#left);
        continue;
      }
      const before = this.#left - (32 - Math.clz32(rest));
      this.#advance(before + 1);
      return zeros + before;
    }
  }

  /** Goes on at the next whole byte. */
  align(): void {
    if (this.#left < 8) this.#advance(this.#left);
  }

  #byte(): number {
    const byte = this.#bytes[this.#place];
    if (byte === undefined) throw new BitsExhausted("the bits are exhausted");
    return byte;
  }

  #advance(bits: number): void {
    this.#left -= bits;
    if (this.#left > 0) return;
    this.#left = 8;
    this.#place += 1;
  }
}
