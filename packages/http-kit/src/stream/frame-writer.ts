import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Unread } from "../exchange/unread-bytes.ts";

/** Frames are written once they reach this many characters. Larger writes are not faster and hold memory longer. */
const WRITE_CHARS_MAX = 65_536;

/** If both source and reader are fast, other requests still need their turn. */
function nextTurn(): Promise<void> {
  return new Promise(setImmediate);
}

/**
 * Joins the frames of one turn of the event loop into one write. Buffers at most one write besides the socket's, if the
 * caller awaits the promise that `add` returns.
 */
export class FrameWriter {
  readonly #response: ServerResponse;
  readonly #open: () => void;
  readonly #unread: Unread;
  #text = "";
  #isOpen = false;
  #isClosed: boolean;
  #flushPlanned = false;
  #room: PromiseWithResolvers<void> | null = null;
  #writtenAt = performance.now();

  /**
   * `open` writes the headers of the reply and is called once, before the first frame. `unread` counts the bytes that
   * wait for the reader.
   */
  constructor(response: ServerResponse, open: () => void, unread: Unread) {
    this.#response = response;
    this.#open = open;
    this.#unread = unread;
    this.#isClosed = response.destroyed;
    response.once("close", () => {
      this.#isClosed = true;
      this.#makeRoom();
      this.#unread.update(0);
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True once the reply has closed. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True while the reader is behind. */
  get isBlocked(): boolean {
    return this.#room !== null;
  }

  /** Milliseconds since the latest write. */
  get silentMs(): number {
    return performance.now() - this.#writtenAt;
  }

  /** Sends the headers without waiting for the first frame. */
  open(): void {
    if (this.#isOpen || this.#isClosed) return;
    this.#openOnce();
    this.#response.flushHeaders();
  }

  /**
   * Adds a frame. Returns undefined if the next may be added at once, otherwise a promise to await first. The first
   * frame is written immediately.
   */
  add(frame: string): Promise<void> | undefined {
    const isFirst = !this.#isOpen;
    this.#text += frame;
    if (isFirst || this.#text.length >= WRITE_CHARS_MAX) {
      this.#flush();
      if (this.#room === null && !isFirst) return nextTurn();
    } else if (!this.#flushPlanned) {
      this.#flushPlanned = true;
      setImmediate(this.#flushAsPlanned);
    }
    // A fast reader makes room before the turn ends, so that is no turn for others.
    return this.#room?.promise.then(nextTurn);
  }

  /** Writes the remaining text and ends the reply. */
  finish(): void {
    if (this.#isClosed) return;
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
    if (this.#text === "" || this.#isClosed || this.#room !== null) return;
    if (!this.#isOpen) return this.#openWith(() => this.#flush());
    const text = this.#text;
    this.#text = "";
    this.#writtenAt = performance.now();
    const { socket, chunkedEncoding } = this.#response;
    const isDirect = socket !== null && chunkedEncoding;
    if (isDirect ? writeChunk(socket, text) : this.#response.write(text)) return;
    this.#room = Promise.withResolvers<void>();
    (isDirect ? socket : this.#response).once("drain", this.#makeRoom);
    this.#countUnread();
  }

  #countUnread(): void {
    this.#unread.update(this.#response.writableLength);
  }

  /**
   * Sends the headers and the first frame in one write, but as two texts. If Node joined them, the reply would keep the
   * headers in memory, as the hundred pieces they were built from, for as long as it lasts.
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
    if (this.#isOpen) return;
    this.#open();
    this.#isOpen = true; // After the call: if the headers cannot be written, an error reply can still be sent.
  }

  readonly #makeRoom = (): void => {
    const room = this.#room;
    this.#room = null;
    if (room !== null) this.#unread.update(0);
    this.#flush(); // Writes the frames that were added while the socket was full.
    room?.resolve();
  };
}

/**
 * Writes a chunk of a chunked reply, whose head has been written, to its socket. Node would write each chunk as four
 * pieces, which costs half as much again. Returns false if the socket is full.
 */
function writeChunk(socket: Socket, text: string): boolean {
  const size = Buffer.byteLength(text);
  return socket.write(`${size.toString(16)}\r\n${text}\r\n`, size === text.length ? "latin1" : "utf8");
}
