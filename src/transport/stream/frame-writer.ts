import type { ServerResponse } from "node:http";
import type { Unread } from "./unread-bytes.ts";

/** A write of this size is worth its call; a larger one only holds memory longer. */
const WRITE_CHARS_MAX = 65_536;

/**
 * Gathers the frames of one turn of the event loop into one write. Beside the write the socket has not taken yet it
 * holds at most one more, if whoever adds frames waits for the promise that `add` gives.
 */
export class FrameWriter {
  readonly #response: ServerResponse;
  readonly #open: () => void;
  readonly #unread: Unread;
  #text = "";
  #opened = false;
  #closed: boolean;
  #flushPlanned = false;
  #room: PromiseWithResolvers<void> | null = null;
  #writtenAt = performance.now();

  /**
   * `open` writes the head of the reply; it is called once, with the first frame. `unread` is told what the reader
   * leaves waiting.
   */
  constructor(response: ServerResponse, open: () => void, unread: Unread) {
    this.#response = response;
    this.#open = open;
    this.#unread = unread;
    this.#closed = response.destroyed;
    response.on("drain", () => this.#makeRoom());
    response.once("close", () => {
      this.#closed = true;
      this.#makeRoom();
      this.#unread.update(0);
    });
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** True when nobody reads any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** True while the reader is behind. */
  get blocked(): boolean {
    return this.#room !== null;
  }

  /** How long nothing has been written. */
  get silentMs(): number {
    return performance.now() - this.#writtenAt;
  }

  /** Sends the head of a reply whose first frame lets itself be waited for. */
  open(): void {
    if (this.#opened || this.#closed) return;
    this.#openOnce();
    this.#response.flushHeaders();
  }

  /** Undefined when the next frame may be added at once. The first frame does not wait for company. */
  add(frame: string): Promise<void> | undefined {
    const isFirst = !this.#opened;
    this.#text += frame;
    if (isFirst || this.#text.length >= WRITE_CHARS_MAX) {
      this.#flush();
      // Source and reader may both be fast; others want their turn.
      if (this.#room === null && !isFirst) return new Promise(setImmediate);
    } else if (!this.#flushPlanned) {
      this.#flushPlanned = true;
      setImmediate(this.#flushAsPlanned);
    }
    return this.#room?.promise;
  }

  /** Writes what is left and ends the reply. */
  finish(): void {
    if (this.#closed) return;
    this.#openOnce();
    this.#response.end(this.#text);
    this.#text = "";
    this.#countUnread();
  }

  readonly #flushAsPlanned = (): void => {
    this.#flushPlanned = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#text === "" || this.#closed || this.#room !== null) return;
    if (!this.#opened) return this.#openWith(() => this.#flush());
    const text = this.#text;
    this.#text = "";
    this.#writtenAt = performance.now();
    if (this.#response.write(text)) return;
    this.#room = Promise.withResolvers<void>();
    this.#countUnread();
  }

  #countUnread(): void {
    this.#unread.update(this.#response.writableLength);
  }

  /**
   * Gives the socket the head and what comes after it in one write, but as two texts: joined by Node to the first
   * frame, the head would be kept as the hundred pieces it was made of for as long as the reply lasts.
   */
  #openWith(write: () => void): void {
    const { socket } = this.#response;
    this.#openOnce();
    socket?.cork();
    this.#response.flushHeaders();
    write();
    socket?.uncork();
  }

  #openOnce(): void {
    if (this.#opened) return;
    this.#open();
    this.#opened = true; // Not before: a head that cannot be written leaves the reply to others.
  }

  #makeRoom(): void {
    const room = this.#room;
    this.#room = null;
    if (room !== null) this.#unread.update(0);
    this.#flush(); // What was added while there was no room.
    room?.resolve();
  }
}
