import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { inheritedEnvironment } from "./inherited-environment.ts";

/** The maximum of the kept error output of a program, from its end. */
const COMPLAINT_CHARACTERS_MAX = 2000;

/** The program does not exist or cannot be executed. */
export class ProgramMissing extends Error {
  override readonly name = "ProgramMissing";
}

/** The program failed. The message quotes its error output but not its input. */
export class ProgramFailed extends Error {
  override readonly name = "ProgramFailed";
}

/** A program to run, with its limits. */
export interface ProgramCall {
  /** A path, or a name that is looked up on PATH. */
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the inherited environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Read as fast as the program accepts it. The iteration is not closed if the program ends first. */
  readonly input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** A file descriptor that the program gets as number 3. */
  readonly file?: number;
  readonly signal: AbortSignal;
  /** In milliseconds; null if only the signal limits the time. */
  readonly timeoutMs: number | null;
  readonly outputBytesMax: number;
  /** Called with the error output of a program that succeeded. */
  readonly onComplaint?: (complaint: string) => void;
}

interface Child {
  readonly process: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/**
 * Runs a program and yields its output while it reads its input. An abort, the end of the iteration, the time limit and
 * the output limit all kill it at once. Throws `ProgramMissing`, `ProgramFailed` or the error of the input. Ends early
 * without throwing when `signal` aborts.
 */
export async function* runProgram(call: ProgramCall): AsyncGenerator<Uint8Array> {
  const { program, signal, timeoutMs } = call;
  if (signal.aborted) return;
  const child = await start(call);
  const end = childEnd(child);
  let isLate = false;
  const kill = (): void => void child.process.kill("SIGKILL");
  const timer =
    timeoutMs === null
      ? null
      : setTimeout(() => {
          isLate = true;
          kill();
        }, timeoutMs);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const feeding = feed(child, call.input, end);
  try {
    yield* limitOutput(child.stdout, call);
    const { code, complaint } = await end;
    const fault = await feeding;
    if (signal.aborted) return;
    if (isLate) throw new ProgramFailed(`${program} took longer than ${(timeoutMs ?? 0) / 1000} s`);
    if (fault !== null) throw fault.error;
    if (code !== 0)
      throw new ProgramFailed(`${program} failed: ${complaint === "" ? `exit status ${code}` : complaint}`);
    if (complaint !== "") call.onComplaint?.(complaint);
  } finally {
    if (timer !== null) clearTimeout(timer);
    signal.removeEventListener("abort", kill);
    kill();
    await end;
    await feeding;
  }
}

async function start({ program, args, environment, file }: ProgramCall): Promise<Child> {
  const child = spawn(program, args, {
    env: { ...inheritedEnvironment(), ...environment },
    stdio: ["pipe", "pipe", "pipe", ...(file === undefined ? [] : [file])],
  });
  const { stdin, stdout, stderr } = child;
  assert(stdin !== null && stdout !== null && stderr !== null, "the child has the requested pipes");
  stdin.on("error", () => {}); // A program that stops reading early reports its failure by the exit status.
  try {
    await once(child, "spawn");
    return { process: child, stdin, stdout, stderr };
  } catch (error) {
    const code = isRecord(error) ? error["code"] : null;
    if (code === "ENOENT" || code === "EACCES")
      throw new ProgramMissing(`${program} cannot be run: ${code}`, { cause: error });
    throw new ProgramFailed(`${program} could not be started`, { cause: error });
  }
}

/** Resolves when the program has ended; never rejects. */
async function childEnd(child: Child): Promise<{ readonly code: number | null; readonly complaint: string }> {
  let complaint = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS_MAX);
  });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.process.on("error", () => resolve(null));
  child.process.on("close", (code) => resolve(code));
  return { code: await promise, complaint: complaint.trim() };
}

/**
 * Writes the input until it or the program ends. Resolves to the error of the input, or null. A program that stops
 * reading is no error.
 */
async function feed(
  child: Child,
  input: ProgramCall["input"],
  exit: Promise<unknown>,
): Promise<{ error: unknown } | null> {
  const pieces = iteratorOf(input);
  const closing = exit.then(() => null);
  try {
    for (;;) {
      const next = await Promise.race([pieces.next(), closing]);
      if (next === null || next.done === true) return null;
      if (child.stdin.writable && !child.stdin.write(next.value))
        await Promise.race([once(child.stdin, "drain"), closing]);
    }
  } catch (error) {
    return child.stdin.writable ? { error } : null;
  } finally {
    child.stdin.end();
  }
}

function iteratorOf<T>(input: AsyncIterable<T> | Iterable<T>): AsyncIterator<T> | Iterator<T> {
  return Symbol.asyncIterator in input ? input[Symbol.asyncIterator]() : input[Symbol.iterator]();
}

async function* limitOutput(output: Readable, { program, outputBytesMax }: ProgramCall): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of output) {
    if (!(chunk instanceof Uint8Array)) continue;
    bytes += chunk.length;
    if (bytes > outputBytesMax) throw new ProgramFailed(`${program} wrote more than ${outputBytesMax} bytes`);
    yield chunk;
  }
}
