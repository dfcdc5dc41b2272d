import { type HeldBytes, SMALL_BYTES } from "../../base/limits/byte-budget.ts";
import { BODY_BYTES_PER_SECOND_MIN } from "../body/body-chunks.ts";

/** The head of a control frame that a client sends, its mask included. */
const CONTROL_HEAD_BYTES = 6;

/** Counts what one WebSocket holds: of the message that is still coming, and of those that wait to be taken. */
export class MessageBytes {
  readonly #held: HeldBytes;
  /** Since the last message ended. */
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

  /** False: there is no room for them. */
  arrived(bytes: number): boolean {
    this.#begun += bytes;
    this.#lastPiece = bytes;
    this.#sinceLook += bytes;
    return this.#count();
  }

  /**
   * A message has come to its end, and waits. What else has come can only be of the last piece: heads of frames are not
   * kept.
   */
  completed(bytes: number): void {
    this.#waiting += bytes;
    this.#begun = Math.max(0, Math.min(this.#begun - bytes, this.#lastPiece));
    this.#count();
  }

  /** A control frame has come, perhaps in the middle of a message. */
  controlled(bytes: number): void {
    this.#begun = Math.max(0, this.#begun - bytes - CONTROL_HEAD_BYTES);
    this.#count();
  }

  /** A message waits no longer. */
  taken(bytes: number): void {
    this.#waiting -= bytes;
    this.#count();
  }

  /** Whether a large message has begun and next to nothing of it came in the time since the last look. */
  isStalled(sinceMs: number): boolean {
    const isSlow = this.#sinceLook < (BODY_BYTES_PER_SECOND_MIN * sinceMs) / 1000;
    this.#sinceLook = 0;
    return isSlow && this.#begun > SMALL_BYTES;
  }

  /** Nothing comes any more, and what waits is its taker's. */
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
