import { assert } from "@antiphon/base/assert.ts";
import type { SessionEnd } from "@antiphon/domain/containers.ts";
import {
  FileRefused,
  type Sandbox,
  type SandboxCallLimits,
  type SandboxCommand,
  type SandboxFile,
  type SandboxRun,
} from "../ports/sandbox-engine.ts";
import { BadFrame, DATA_BYTES_MAX, HEAD_BYTES_MAX, type SandboxFrame } from "./frames.ts";
import { isPathBelow } from "./replies.ts";
import { RunOutputs } from "./run-outputs.ts";
import { CALL_BYTES_MORE, type LinkStart, SandboxChannel, type SandboxRequest } from "./sandbox-channel.ts";

/** The time limit of one file operation, such as writing a piece. */
const STEP_MS_MAX = 20_000;
/** How long a command that took too long may take to end. */
const COMMAND_END_MS_MAX = 5000;
/** The most bytes of a character in UTF-8. */
const BYTES_A_CHARACTER = 4;
const PACKAGES_MAX = 500;
/** Exit codes as a shell gives them. */
const NOT_STARTED = 126;
const KILLED = 137;

/** A sandbox behind the frame protocol, in any engine. */
export class SandboxLink implements Sandbox {
  readonly #channel: SandboxChannel;

  private constructor(channel: SandboxChannel) {
    this.#channel = channel;
  }

  /** Rejects with `SandboxFailed`, or the signal's reason, after the child has ended. */
  static async open(start: LinkStart, signal: AbortSignal): Promise<SandboxLink> {
    return new SandboxLink(await SandboxChannel.open(start, signal));
  }

  get exit(): Promise<SessionEnd | "killed"> {
    return this.#channel.exit;
  }

  /** Such as `3.11`. */
  get python(): string {
    return this.#channel.python;
  }

  get hasShell(): boolean {
    return this.#channel.hasShell;
  }

  /** The names of the installed packages. */
  async packages(signal: AbortSignal): Promise<readonly string[]> {
    let names: readonly string[] = [];
    await this.#channel.ask(
      {
        ...step({ do: "packages" }),
        take: (reply) => {
          if (reply.is !== "packages") throw new BadFrame("no list of packages");
          names = reply.names.slice(0, PACKAGES_MAX);
          return true;
        },
      },
      signal,
    );
    return names;
  }

  async writeFile(path: string, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    assert(isPathBelow(path), "a path is below /mnt/data");
    let offset = 0;
    for await (const chunk of bytes) {
      for (let start = 0; start < chunk.length; start += DATA_BYTES_MAX) {
        const piece = chunk.subarray(start, start + DATA_BYTES_MAX);
        await this.#do({ do: "write", path, offset }, signal, piece);
        offset += piece.length;
      }
    }
    if (offset === 0) await this.#do({ do: "write", path, offset }, signal);
  }

  async removeFile(path: string, signal: AbortSignal): Promise<void> {
    assert(isPathBelow(path), "a path is below /mnt/data");
    await this.#do({ do: "remove", path }, signal);
  }

  async listFiles(most: number, signal: AbortSignal): Promise<readonly SandboxFile[]> {
    const files = new Map<string, SandboxFile>();
    await this.#channel.ask(
      {
        ...step({ do: "list", most }),
        replyBytesMax: CALL_BYTES_MORE + most * HEAD_BYTES_MAX,
        take: (reply) => {
          if (reply.is !== "files") throw new BadFrame("no list of files");
          for (const file of reply.files) files.set(file.path, file);
          if (files.size > most || (reply.files.length === 0 && !reply.last)) throw new BadFrame("a list without end");
          return reply.last;
        },
      },
      signal,
    );
    return [...files.values()];
  }

  /** Only the last piece is short, so that a small file needs one request. */
  async *readFile(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    assert(isPathBelow(path), "a path is below /mnt/data");
    for (let offset = 0; ; ) {
      const bytes = await this.#readPiece(path, offset, signal);
      if (bytes.length > 0) yield bytes;
      if (bytes.length < DATA_BYTES_MAX) return;
      offset += bytes.length;
    }
  }

  async runCode(code: string, limits: SandboxCallLimits, signal: AbortSignal): Promise<SandboxRun> {
    const { logCharactersMax, imagesMax, imageBytesMax } = limits;
    const outputs = new RunOutputs(limits);
    const head = { do: "run", code, logCharactersMax, imagesMax, imageBytesMax };
    if (Buffer.byteLength(JSON.stringify(head)) > HEAD_BYTES_MAX)
      return { outputs: [], traceback: `SyntaxError: the code is longer than ${HEAD_BYTES_MAX} bytes`, end: null };
    let traceback: string | null = null;
    const end = await this.#channel.call(
      {
        head,
        timeoutMs: limits.timeoutMs,
        replyBytesMax: CALL_BYTES_MORE + logCharactersMax * BYTES_A_CHARACTER + imagesMax * imageBytesMax,
        take: (reply) => {
          if (reply.is === "log") outputs.log(reply.text);
          else if (reply.is === "image") outputs.image(reply.bytes, reply.last);
          else if (reply.is === "ran") traceback = reply.traceback;
          else throw new BadFrame("no output of code");
          return reply.is === "ran";
        },
      },
      signal,
    );
    return { outputs: outputs.all(), traceback, end };
  }

  async runCommand(command: string, limits: SandboxCallLimits, signal: AbortSignal): Promise<SandboxCommand> {
    const { timeoutMs, logCharactersMax } = limits;
    const head = { do: "command", command, timeoutMs, logCharactersMax };
    const output = { stdout: "", stderr: "" };
    let exitCode: number | null = null;
    if (Buffer.byteLength(JSON.stringify(head)) > HEAD_BYTES_MAX)
      return { run: runResult({ stdout: "", stderr: "The command is too long.\n" }, NOT_STARTED), end: null };
    const end = await this.#channel.call(
      {
        head,
        timeoutMs: timeoutMs + COMMAND_END_MS_MAX,
        replyBytesMax: CALL_BYTES_MORE + logCharactersMax * BYTES_A_CHARACTER,
        take: (reply) => {
          if (reply.is === "stdout" || reply.is === "stderr") output[reply.is] += reply.text;
          else if (reply.is === "exited") exitCode = reply.code;
          else throw new BadFrame("no output of a command");
          return reply.is === "exited";
        },
      },
      signal,
    );
    if (end !== null && end !== "timed_out") return { run: runResult(output, KILLED), end };
    return { run: exitCode === null ? { ...output, outcome: { type: "timeout" } } : runResult(output, exitCode), end };
  }

  async kill(): Promise<void> {
    this.#channel.stop("killed");
    await this.#channel.exit;
  }

  /** Ends the sandbox for this reason, unless it has ended. */
  stop(reason: SessionEnd): void {
    this.#channel.stop(reason);
  }

  async #readPiece(path: string, offset: number, signal: AbortSignal): Promise<Uint8Array> {
    let bytes: Uint8Array = new Uint8Array();
    let why: string | null = null;
    await this.#channel.ask(
      {
        ...step({ do: "read", path, offset, most: DATA_BYTES_MAX }),
        take: (reply) => {
          if (reply.is === "failed") ({ why } = reply);
          else if (reply.is === "piece") ({ bytes } = reply);
          else throw new BadFrame("no piece of a file");
          return true;
        },
      },
      signal,
    );
    if (why !== null) throw new FileRefused(why);
    return bytes;
  }

  async #do(head: SandboxFrame["head"], signal: AbortSignal, data?: Uint8Array): Promise<void> {
    let why: string | null = null;
    await this.#channel.ask(
      {
        ...step(head, data),
        take: (reply) => {
          if (reply.is === "failed") ({ why } = reply);
          else if (reply.is !== "done") throw new BadFrame("no answer of a file");
          return true;
        },
      },
      signal,
    );
    if (why !== null) throw new FileRefused(why);
  }
}

function step(head: SandboxFrame["head"], data?: Uint8Array): Omit<SandboxRequest, "take"> {
  return { head, ...(data === undefined ? {} : { data }), timeoutMs: STEP_MS_MAX, replyBytesMax: CALL_BYTES_MORE };
}

function runResult(
  output: { readonly stdout: string; readonly stderr: string },
  exitCode: number,
): SandboxCommand["run"] {
  return { ...output, outcome: { type: "exit", exitCode } };
}
