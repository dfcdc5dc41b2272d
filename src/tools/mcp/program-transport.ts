import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { Semaphore } from "../../base/limits/semaphore.ts";
import { type PipedChild, startPiped } from "../../programs/piped-child.ts";
import type { McpProgram } from "./mcp-server.ts";
import { noteSent } from "./open-transport.ts";

/** Most programs that run at the same time; a connection waits for its place within its time limit. */
const PROGRAMS_MAX = 32;
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Lines that are no messages, such as greetings, are skipped up to this many in a row. */
const STRANGE_LINES_MAX = 1000;

const PLACES = new Semaphore(PROGRAMS_MAX);

/** Talks to a program of the operator over its standard input and output. The program ends with the connection. */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #program: McpProgram;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MESSAGE_BYTES_MAX });
  readonly #signal: AbortSignal;
  #child: PipedChild | null = null;
  #giveBack: (() => void) | null = null;
  #isClosed = false;

  /** `signal` ends the wait for a place. */
  constructor(program: McpProgram, signal: AbortSignal) {
    this.#program = program;
    this.#signal = signal;
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
      onEnd: () => this.#ended(),
    }).catch((error: unknown) => {
      this.#ended();
      throw error;
    });
    if (!this.#isClosed) return;
    this.#child.kill();
    this.#leave();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#child === null || this.#isClosed) throw new Error("the program has ended");
    noteSent(message);
    await this.#child.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#child?.kill();
    this.#ended();
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
    throw new Error("the program writes lines that are no messages");
  }

  #complain(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }

  #ended(): void {
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
