import { WebSocket } from "ws";

const MESSAGE_TOO_LARGE = 1009;

/**
 * A WebSocket that emits `oversized` when a message is too large and stays open for writing, so that an error can be
 * sent. `ws` would close it with the code alone. Nothing more can be read from it.
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
