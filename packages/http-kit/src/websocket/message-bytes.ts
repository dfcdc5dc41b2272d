import { type HeldBytes, SMALL_BYTES } from "@antiphon/base/limits/byte-budget.ts";
import { BODY_BYTES_PER_SECOND_MIN } from "../body/body-chunks.ts";

/** Bytes of the header of a client's control frame, including its mask. */
const CONTROL_HEAD_BYTES = 6;

/** Counts the bytes in memory for one WebSocket: the arriving message, and waiting messages. */
export class MessageBytes {
  readonly #heldBytes: HeldBytes;
  /** Bytes that arrived since the last message ended. */
  #messageBytes = 0;
  #waiting = 0;
  #lastPiece = 0;
  #sinceLook = 0;
  #isOver = false;

  constructor(heldBytes: HeldBytes) {
    this.#heldBytes = heldBytes;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Counts bytes that have arrived. Returns false if the budget has no room for them. */
  addArrival(bytes: number): boolean {
    this.#messageBytes += bytes;
    this.#lastPiece = bytes;
    this.#sinceLook += bytes;
    return this.#count();
  }

  /**
   * Counts a complete message, which now waits. Other bytes since can only be in the last piece, because frame headers
   * are not kept.
   */
  completeMessage(bytes: number): void {
    this.#waiting += bytes;
    this.#messageBytes = Math.max(0, Math.min(this.#messageBytes - bytes, this.#lastPiece));
    this.#count();
  }

  /** Removes a control frame from the count; it may have arrived in the middle of a message. */
  removeControlFrame(bytes: number): void {
    this.#messageBytes = Math.max(0, this.#messageBytes - bytes - CONTROL_HEAD_BYTES);
    this.#count();
  }

  /** Removes a message that was taken from the waiting ones. */
  removeMessage(bytes: number): void {
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
    return isSlow && this.#messageBytes > SMALL_BYTES;
  }

  /** Frees all bytes, once the socket has closed. */
  release(): void {
    this.#isOver = true;
    this.#heldBytes.release();
  }

  #count(): boolean {
    if (this.#isOver) return true;
    const more = this.#messageBytes + this.#waiting - this.#heldBytes.bytes;
    if (more > 0) return this.#heldBytes.add(more);
    this.#heldBytes.remove(-more);
    return true;
  }
}
