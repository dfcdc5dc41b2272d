import type { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type PipedChild, startPiped } from "@antiphon/programs/piped-child.ts";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { ProgramEnded } from "../mcp-failure.ts";
import type { McpProgram } from "../mcp-server.ts";
import { noteSent } from "../open-transport.ts";
import { LastWords } from "./last-words.ts";

const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** The maximum of consecutive lines that are not messages, such as greetings. They are skipped. */
const STRANGE_LINES_MAX = 1000;

export interface ProgramWatch {
  /** Limits running programs. */
  readonly places: Semaphore;
  /** Ends the wait for a place. */
  readonly signal: AbortSignal;
  /** Called with the program's stderr. */
  readonly onComplaint: (bytes: Buffer) => void;
  /** Called if the program exits before it is closed. */
  readonly onDeath: (death: ProgramEnded) => void;
}

/** Connects to an operator's program over its standard input and output. The program ends with the connection. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: McpProgram;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES_MAX });
  readonly #watch: ProgramWatch;
  readonly #lastWords = new LastWords();
  readonly #over = Promise.withResolvers<void>();
  #child: PipedChild | null = null;
  #death: ProgramEnded | null = null;
  #giveBack: (() => void) | null = null;
  #isClosed = false;

  constructor(program: McpProgram, watch: ProgramWatch) {
    this.#program = program;
    this.#watch = watch;
  }

  /** How the program exited; null unless it exited by itself. */
  get death(): ProgramEnded | null {
    return this.#death;
  }

  /** The end of its stderr. */
  get lastWords(): string {
    return this.#lastWords.text;
  }

  async start(): Promise<void> {
    const { command, args, folder, environment } = this.#program;
    this.#giveBack = await this.#watch.places.take(this.#watch.signal);
    this.#child = await startPiped({
      program: command,
      args,
      folder,
      environment,
      onOutput: (bytes) => this.#hear(bytes),
      onComplaint: (bytes) => {
        this.#lastWords.add(bytes);
        this.#watch.onComplaint(bytes);
      },
      onEnd: () => this.#die(),
    }).catch((error: unknown) => {
      this.#noteEnd();
      throw error;
    });
    if (!this.#isClosed) return;
    this.#child.kill();
    this.#leave();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null || this.#isClosed) throw new Error("the program has ended");
    noteSent(message);
    try {
      await child.write(serializeMessage(message));
    } catch (error) {
      child.kill(); // It reads no more. All of its output is known when it has ended.
      await this.#over.promise;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#child?.kill();
    this.#noteEnd();
  }

  #hear(bytes: Buffer): void {
    try {
      this.#buffer.append(bytes);
      this.#readMessages();
    } catch (error) {
      this.#complain(error);
      void this.close();
    }
  }

  #readMessages(): void {
    for (let strange = 0; strange < STRANGE_LINES_MAX; ) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        strange += 1;
        this.#complain(error);
      }
    }
    throw new Error("the program writes lines that are not messages");
  }

  #complain(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  /** The program has ended, and all of its output was read. */
  #die(): void {
    if (!this.#isClosed) {
      this.#death = new ProgramEnded(this.#lastWords.text);
      this.#watch.onDeath(this.#death);
    }
    this.#noteEnd();
    this.#over.resolve();
  }

  #noteEnd(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#leave();
    this.#buffer.clear();
    this.onclose?.();
  }

  #leave(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }
}
