import type { HeldBytes } from "../../base/limits/byte-budget.ts";

/** Names of lanes that one connection may use. */
export const LANES_MAX = 32;
/** Responses that one connection may have made at the same time. */
export const IN_FLIGHT_MAX = 16;
/** Frames whose turn has not come; beyond them the connection is not read. */
export const WAITING_FRAMES_MAX = 64;
/** The same for their bytes; the last of them may be as large as a message can be. */
export const WAITING_BYTES_MAX = 8 * 1024 * 1024;

/** The name of a lane; null: the lane of all frames that name none. */
export type Lane = string | null;

/**
 * Says which frame is served when: those of a lane one after the other, lanes side by side, and among them whoever came
 * first.
 */
export class Lanes<T extends { readonly lane: Lane; readonly bytes: number }> {
  readonly #names = new Set<string>();
  readonly #busy = new Set<Lane>();
  readonly #held: HeldBytes;
  #waiting: T[] = [];
  #waitingBytes = 0;

  /** `held`: what the frames that wait may hold in memory. */
  constructor(held: HeldBytes) {
    this.#held = held;
  }

  get isFull(): boolean {
    return this.#waiting.length >= WAITING_FRAMES_MAX || this.#waitingBytes > WAITING_BYTES_MAX;
  }

  has(lane: Lane): boolean {
    return lane === null || this.#names.has(lane);
  }

  /** Makes a lane known. False: its name would be one too many. Names are never given back. */
  open(lane: Lane): boolean {
    if (this.has(lane)) return true;
    if (lane === null || this.#names.size >= LANES_MAX) return false;
    this.#names.add(lane);
    return true;
  }

  /** False: there is no room for the frame. */
  add(frame: T): boolean {
    if (!this.#held.add(frame.bytes)) return false;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes;
    return true;
  }

  /** The frames whose turn has come. Their lanes are busy until they are left. */
  takeReady(): readonly T[] {
    const ready: T[] = [];
    this.#waiting = this.#waiting.filter((frame) => {
      if (this.#busy.size >= IN_FLIGHT_MAX || this.#busy.has(frame.lane)) return true;
      this.#busy.add(frame.lane);
      this.#waitingBytes -= frame.bytes;
      this.#held.remove(frame.bytes);
      ready.push(frame);
      return false;
    });
    return ready;
  }

  leave(lane: Lane): void {
    this.#busy.delete(lane);
  }

  /** Forgets the frames that wait. */
  clear(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#held.release();
  }
}
