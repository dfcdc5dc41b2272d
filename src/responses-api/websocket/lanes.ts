import type { HeldBytes } from "@antiphon/base/limits/byte-budget.ts";

/** The maximum of lane names of one connection. */
export const LANES_MAX = 32;
/** The maximum of responses that one connection makes at the same time. */
export const IN_FLIGHT_MAX = 16;
/** The maximum of waiting frames. At the limit the connection is not read. */
export const WAITING_FRAMES_MAX = 64;
/** The maximum bytes of waiting frames; the last of them may exceed it. */
export const WAITING_BYTES_MAX = 8 * 1024 * 1024;

/** The name of a lane; null for the lane of all frames without a name. */
export type Lane = string | null;

/**
 * Schedules frames. A lane serves one frame at a time, lanes run in parallel, and waiting frames start in order of
 * arrival.
 */
export class Lanes<T extends { readonly lane: Lane; readonly bytes: number }> {
  readonly #names = new Set<string>();
  readonly #busy = new Set<Lane>();
  readonly #heldBytes: HeldBytes;
  #waiting: T[] = [];
  #waitingBytes = 0;

  /** `heldBytes` is the memory budget of waiting frames. */
  constructor(heldBytes: HeldBytes) {
    this.#heldBytes = heldBytes;
  }

  get isFull(): boolean {
    return this.#waiting.length >= WAITING_FRAMES_MAX || this.#waitingBytes > WAITING_BYTES_MAX;
  }

  has(lane: Lane): boolean {
    return lane === null || this.#names.has(lane);
  }

  /** Registers a lane, for the whole connection. Returns false if there are `LANES_MAX` names already. */
  open(lane: Lane): boolean {
    if (this.has(lane)) return true;
    if (lane === null || this.#names.size >= LANES_MAX) return false;
    this.#names.add(lane);
    return true;
  }

  /** Returns false if there is no memory for the frame. */
  add(frame: T): boolean {
    if (!this.#heldBytes.add(frame.bytes)) return false;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes;
    return true;
  }

  /** Takes the frames that can be served now. Their lanes are busy until `release`. */
  takeReady(): readonly T[] {
    const ready: T[] = [];
    this.#waiting = this.#waiting.filter((frame) => {
      if (this.#busy.size >= IN_FLIGHT_MAX || this.#busy.has(frame.lane)) return true;
      this.#busy.add(frame.lane);
      this.#waitingBytes -= frame.bytes;
      this.#heldBytes.remove(frame.bytes);
      ready.push(frame);
      return false;
    });
    return ready;
  }

  release(lane: Lane): void {
    this.#busy.delete(lane);
  }

  /** Drops the waiting frames. */
  clear(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#heldBytes.release();
  }
}
