import { type HeldBytes, SMALL_BYTES } from "../../base/limits/byte-budget.ts";
import { BODY_BYTES_PER_SECOND_MIN } from "../body/body-chunks.ts";

/** Bytes of the header of a client's control frame, including its mask. */
const CONTROL_HEAD_BYTES = 6;

/** Counts the bytes in memory for one WebSocket: the arriving message, and waiting messages. */
export class MessageBytes {
  readonly #held: HeldBytes;
  /** Bytes that arrived since the last message ended. */
  #begun = 0;
  #waiting = 0;
  #lastPiece = 0;
  #sinceLook = 0;
  #isOver = false;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Counts bytes that have arrived. Returns false if the budget has no room for them. */
  arrived(bytes: number): boolean {
    this.#begun += bytes;
    this.#lastPiece = bytes;
    this.#sinceLook += bytes;
    return this.#count();
  }

  /**
   * Counts a complete message, which now waits. Other bytes since can only be in the last piece, because frame headers
   * are not kept.
   */
  completed(bytes: number): void {
    this.#waiting += bytes;
    this.#begun = Math.max(0, Math.min(this.#begun - bytes, this.#lastPiece));
    this.#count();
  }

  /** Removes a control frame from the count; it may have arrived in the middle of a message. */
  controlled(bytes: number): void {
    this.#begun = Math.max(0, this.#begun - bytes - CONTROL_HEAD_BYTES);
    this.#count();
  }

  /** Removes a message that was taken from the waiting ones. */
  taken(bytes: number): void {
    this.#waiting -= bytes;
    this.#count();
  }

  /**
   * Whether a large message is arriving below the minimum rate. `sinceMs` is the time since the last call, in
   * milliseconds.
   */
  isStalled(sinceMs: number): boolean {
    const isSlow = this.#sinceLook < (BODY_BYTES_PER_SECOND_MIN * sinceMs) / 1000;
    this.#sinceLook = 0;
    return isSlow && this.#begun > SMALL_BYTES;
  }

  /** Frees all bytes, once the socket has closed. */
  release(): void {
    this.#isOver = true;
    this.#held.release();
  }

  #count(): boolean {
    if (this.#isOver) return true;
    const more = this.#begun + this.#waiting - this.#held.bytes;
    if (more > 0) return this.#held.add(more);
    this.#held.remove(-more);
    return true;
  }
}
