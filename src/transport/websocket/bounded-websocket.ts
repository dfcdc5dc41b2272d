import { WebSocket } from "ws";

const MESSAGE_TOO_LARGE = 1009;

/**
 * A WebSocket that says what is wrong with a message that is too large. `ws` closes such a socket with the code alone;
 * here it stays open for writing, and emits `oversized`. Nothing more can be read from it.
 */
export class BoundedWebSocket extends WebSocket {
  #isOversized = false;

  override close(code?: number, reason?: string | Buffer): void {
    const isFirst = code === MESSAGE_TOO_LARGE && reason === undefined && !this.#isOversized;
    if (!isFirst || this.listenerCount("oversized") === 0) return super.close(code, reason);
    this.#isOversized = true;
    this.emit("oversized");
  }
}
