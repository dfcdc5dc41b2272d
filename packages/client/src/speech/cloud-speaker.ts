import type { CloudAudioMessage, CloudHeartbeatMessage } from "@antiphon/contracts/local-stt/types.ts";
import type { CallWatch } from "../http/call-watch.ts";
import { timeoutError } from "../http/errors.ts";
import { isRecord } from "../http/json-members.ts";
import { cancelIterator } from "../http/line-stream.ts";
import type { Socket, SocketInbox } from "./socket-inbox.ts";
import { waitForRoom } from "./socket-stream.ts";

const HEARTBEAT: CloudHeartbeatMessage = { type: "heartbeat" };
const LAST: CloudAudioMessage = { type: "audio", audio_base64: "", last: true };

/**
 * Sends a caller's messages on an open socket. Adds heartbeats in pauses, and a last audio message if the caller sends
 * none.
 */
export class CloudSpeaker {
  readonly #socket: Socket;
  readonly #inbox: SocketInbox;
  readonly #watch: CallWatch;
  readonly #times: { readonly heartbeatMs: number; readonly timeoutMs: number };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasEnded = false;

  constructor(
    socket: Socket,
    inbox: SocketInbox,
    watch: CallWatch,
    times: { readonly heartbeatMs: number; readonly timeoutMs: number },
  ) {
    this.#socket = socket;
    this.#inbox = inbox;
    this.#watch = watch;
    this.#times = times;
  }

  /** Whether the last audio message was sent. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sends until the last audio message is sent or the call is over. */
  begin(messages: AsyncIterable<unknown>): void {
    const iterator = messages[Symbol.asyncIterator]();
    this.#watch.whenOver(() => {
      clearTimeout(this.#timer);
      cancelIterator(iterator);
    });
    this.#scheduleHeartbeat();
    // The stream rejects with the error of the caller's source.
    this.#sendAll(iterator).catch((error: unknown) => this.#watch.end(error));
  }

  async #sendAll(iterator: AsyncIterator<unknown>): Promise<void> {
    while (!this.#hasEnded && this.#inbox.isOpen) {
      const { done, value } = await iterator.next();
      if (!(await waitForRoom(this.#socket, this.#inbox))) return;
      this.#send(done === true ? LAST : value);
    }
    cancelIterator(iterator);
  }

  #send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
    if (isRecord(message) && message["last"] === true) this.#end();
    else this.#scheduleHeartbeat();
  }

  /** Sends a heartbeat after each pause, unless other messages are still waiting to be sent. */
  #scheduleHeartbeat(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#inbox.isOpen) return;
      if (this.#socket.bufferedAmount === 0) this.#socket.send(JSON.stringify(HEARTBEAT));
      this.#scheduleHeartbeat();
    }, this.#times.heartbeatMs);
  }

  /** From now on the service must send messages, or close, within `timeoutMs`. */
  #end(): void {
    this.#hasEnded = true;
    this.#expectService();
    this.#socket.addEventListener("message", () => this.#expectService());
    this.#socket.addEventListener("close", () => clearTimeout(this.#timer));
  }

  #expectService(): void {
    clearTimeout(this.#timer);
    const { timeoutMs } = this.#times;
    const expire = (): void => this.#watch.end(timeoutError(timeoutMs));
    this.#timer = setTimeout(expire, timeoutMs);
  }
}
