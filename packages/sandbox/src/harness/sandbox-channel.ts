import { assert } from "@antiphon/base/assert.ts";
import { waitAtMost } from "@antiphon/base/limits/wait-at-most.ts";
import type { SessionEnd } from "@antiphon/domain/containers.ts";
import { SandboxFailed } from "../ports/sandbox-engine.ts";
import { BadFrame, encodeFrame, FrameDecoder, type SandboxFrame } from "./frames.ts";
import { type HarnessReply, readHarnessReply } from "./replies.ts";

/** How long the system may take to end a sandbox's processes. */
const KILL_MS_MAX = 10_000;
/** The heads and lengths of one call's frames, besides its output. */
export const CALL_BYTES_MORE = 8 * 1024 * 1024;

/** The process at the other end. */
export interface LinkedChild {
  /** Resolves when it accepts more. May reject when its input is closed. */
  write(bytes: Uint8Array): Promise<void>;
  /** Kills it and all its descendants at once. */
  kill(): void;
  /** Resolves when all of it has ended. */
  readonly exit: Promise<void>;
}

/** Events of a `LinkedChild`. */
export interface LinkEnd {
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Called once, when its output has ended. */
  readonly onEnd: () => void;
}

export interface LinkStart {
  start(end: LinkEnd): Promise<LinkedChild>;
  /** Sent first, if the other side waits for it. */
  readonly opening?: SandboxFrame;
  readonly timeoutMs: number;
}

/** The expected replies of a request. */
interface Exchange {
  /** Returns true if this is the last reply. Throws `BadFrame` if it is unexpected. */
  readonly take: (reply: HarnessReply) => boolean;
  readonly completion: PromiseWithResolvers<void>;
  bytesLeft: number;
}

export interface SandboxRequest {
  readonly head: SandboxFrame["head"];
  readonly data?: Uint8Array;
  readonly timeoutMs: number;
  /** The maximum bytes of all replies together. */
  readonly replyBytesMax: number;
  readonly take: Exchange["take"];
}

/**
 * Sends requests to a sandbox and checks its replies. One request at a time waits for its replies. Every wait is
 * limited, and a reply that breaks the protocol ends the sandbox as `crashed`.
 */
export class SandboxChannel {
  readonly #decoder = new FrameDecoder();
  readonly #exit = Promise.withResolvers<SessionEnd | "killed">();
  #child: LinkedChild | null = null;
  #exchange: Exchange | null = null;
  #end: SessionEnd | "killed" | null = null;
  #python = "";
  #hasShell = false;

  /** Rejects with `SandboxFailed`, or the signal's reason, after the child has ended. */
  static async open(call: LinkStart, signal: AbortSignal): Promise<SandboxChannel> {
    signal.throwIfAborted();
    const channel = new SandboxChannel();
    const ready = channel.#wait({ replyBytesMax: CALL_BYTES_MORE, take: (reply) => channel.#isReady(reply) });
    try {
      channel.#child = await call.start({
        onOutput: (bytes) => channel.#hear(bytes),
        onEnd: () => channel.stop("crashed"),
      });
    } catch (error) {
      channel.#end = "crashed";
      throw new SandboxFailed("The sandbox could not be started.", { cause: error });
    }
    if (channel.#end !== null) channel.#finish(channel.#child); // It ended before its start was reported.
    if (call.opening !== undefined) channel.#send(encodeFrame(call.opening.head, call.opening.data));
    await channel.#settle(ready, call.timeoutMs, signal);
    if (channel.#end !== null) throw new SandboxFailed("The sandbox ended while it started.");
    return channel;
  }

  get exit(): Promise<SessionEnd | "killed"> {
    return this.#exit.promise;
  }

  /** Such as `3.11`. */
  get python(): string {
    return this.#python;
  }

  get hasShell(): boolean {
    return this.#hasShell;
  }

  /** Ends the sandbox for this reason, unless it has ended. */
  stop(reason: SessionEnd | "killed"): void {
    if (this.#end !== null) return;
    this.#end = reason;
    if (this.#child !== null) this.#finish(this.#child);
  }

  /** A request that leaves the sandbox alive if the signal aborts: it waits for the reply, which takes little time. */
  async ask(request: SandboxRequest, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#end !== null) throw new SandboxFailed("The sandbox has ended.");
    const exchange = this.#wait(request);
    this.#send(encodeFrame(request.head, request.data));
    await this.#settle(exchange, request.timeoutMs);
    signal.throwIfAborted();
    if (this.#end !== null) throw new SandboxFailed("The sandbox has ended.");
  }

  /** A request that kills the sandbox if the signal aborts. If the sandbox has ended, resolves to the reason. */
  async call(request: SandboxRequest, signal: AbortSignal): Promise<SessionEnd | null> {
    signal.throwIfAborted();
    if (this.#end !== null) throw new SandboxFailed("The sandbox has ended.");
    const exchange = this.#wait(request);
    this.#send(encodeFrame(request.head, request.data));
    await this.#settle(exchange, request.timeoutMs, signal);
    return this.#end === "killed" ? "crashed" : this.#end;
  }

  #wait({ take, replyBytesMax }: Pick<SandboxRequest, "take" | "replyBytesMax">): Exchange {
    assert(this.#exchange === null, "a sandbox takes one call at a time");
    this.#exchange = { take, completion: Promise.withResolvers(), bytesLeft: replyBytesMax };
    return this.#exchange;
  }

  /** Waits for the last reply, or for the end of the sandbox. Rejects with the signal's reason. */
  async #settle({ completion }: Exchange, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const timer = setTimeout(() => this.stop("timed_out"), timeoutMs);
    const kill = (): void => this.stop("killed");
    signal?.addEventListener("abort", kill, { once: true });
    if (signal?.aborted === true) kill();
    await completion.promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", kill);
    this.#exchange = null;
    signal?.throwIfAborted();
  }

  #send(bytes: Uint8Array): void {
    this.#child?.write(bytes).catch(() => {}); // The end of the child is reported separately.
  }

  #hear(bytes: Uint8Array): void {
    if (this.#end !== null) return;
    try {
      this.#spend(bytes.length);
      for (const frame of this.#decoder.push(bytes)) this.#take(readHarnessReply(frame));
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error;
      this.stop("crashed");
    }
  }

  #spend(bytes: number): void {
    if (this.#exchange === null) throw new BadFrame("words that nobody has asked for");
    this.#exchange.bytesLeft -= bytes;
    if (this.#exchange.bytesLeft < 0) this.stop("too_much_output");
  }

  #take(reply: HarnessReply): void {
    const exchange = this.#exchange;
    if (exchange === null || this.#end !== null) return;
    if (!exchange.take(reply)) return;
    this.#exchange = null; // A further frame would be unexpected.
    exchange.completion.resolve();
  }

  #finish(child: LinkedChild): void {
    child.kill();
    void waitAtMost(KILL_MS_MAX, child.exit).then(() => {
      this.#exit.resolve(this.#end ?? "crashed");
      this.#exchange?.completion.resolve();
    });
  }

  #isReady(reply: HarnessReply): boolean {
    if (reply.is !== "ready") throw new BadFrame("no start of a sandbox");
    this.#python = reply.python;
    this.#hasShell = reply.hasShell;
    return true;
  }
}
