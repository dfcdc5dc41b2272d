import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import { type PipedChild, startPiped } from "@antiphon/programs/piped-child.ts";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { ProgramEnded } from "../mcp-failure.ts";
import type { McpProgram } from "../mcp-server.ts";
import { noteSent } from "../open-transport.ts";
import { LastWords } from "./last-words.ts";

/** The maximum of running programs; a connection waits for a place within its time limit. */
const PROGRAMS_MAX = 32;
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** The maximum of consecutive lines that are not messages, such as greetings. They are skipped. */
const STRANGE_LINES_MAX = 1000;

const PLACES = new Semaphore(PROGRAMS_MAX);

/** Connects to an operator's program over its standard input and output. The program ends with the connection. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: McpProgram;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES_MAX });
  readonly #signal: AbortSignal;
  readonly #onDeath: (death: ProgramEnded) => void;
  readonly #lastWords = new LastWords();
  readonly #over = Promise.withResolvers<void>();
  #child: PipedChild | null = null;
  #death: ProgramEnded | null = null;
  #giveBack: (() => void) | null = null;
  #isClosed = false;

  /** `signal` ends the wait for a place. `onDeath` is called if the program exits before it is closed. */
  constructor(program: McpProgram, signal: AbortSignal, onDeath: (death: ProgramEnded) => void) {
    this.#program = program;
    this.#signal = signal;
    this.#onDeath = onDeath;
  }

  /** How the program exited; null unless it exited by itself. */
  get death(): ProgramEnded | null {
    return this.#death;
  }

  async start(): Promise<void> {
    const { command, args, folder, environment } = this.#program;
    this.#giveBack = await PLACES.take(this.#signal);
    this.#child = await startPiped({
      program: command,
      args,
      folder,
      environment,
      onOutput: (bytes) => this.#hear(bytes),
      onComplaint: (bytes) => this.#lastWords.add(bytes),
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
      this.#onDeath(this.#death);
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
