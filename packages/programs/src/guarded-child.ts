import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ProgramFailed, ProgramMissing } from "./child-program.ts";
import { inheritedEnvironment } from "./inherited-environment.ts";

/** The maximum of the kept output of a program, from its end. */
const OUTPUT_TAIL_CHARACTERS_MAX = 4000;
const SHELL = "/bin/sh";
/** Exit statuses of a shell that cannot run a program. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
const SIGNAL_BASE = 128;

/**
 * A shell script that runs a program in a process group and kills the group when this process ends for any reason. For
 * this, a guard reads from a pipe whose other end only this process has open. Core files are off, because they would
 * store the program's memory on disk.
 */
function guardScript(ownFolder: string | null): string {
  const remove = ownFolder === null ? "" : `/bin/rm -rf ${shellQuoted(ownFolder)}; `;
  return `ulimit -c 0
exec 3<&0
"$0" "$@" </dev/null 3<&- &
program=$!
(read -r _ <&3; ${remove}kill -KILL 0) >/dev/null 2>&1 &
guard=$!
wait $program
status=$?
kill -KILL $guard 2>/dev/null
exit $status`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export interface GuardedProgram {
  /** A path, or a name that is looked up on PATH. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** The whole environment. Default: `inheritedEnvironment`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder used only by the program. It is removed if this process ends before the program does. */
  readonly ownFolder?: string;
  /** Called with the text that the program writes to either output, in pieces of any length. */
  readonly onOutput?: (text: string) => void;
}

export interface ProgramEnd {
  /** Exit status, or 128 plus the number of the signal that ended the program; null if this process killed it. */
  readonly status: number | null;
  /** The end of its output on stdout and stderr. */
  readonly outputTail: string;
}

export interface GuardedChild {
  /** The id of the process group of the guard, the program and its children. */
  readonly group: number;
  /** Resolves when the program has ended and all its output is read; never rejects. */
  readonly exit: Promise<ProgramEnd>;
  /** Kills the whole group at once. */
  kill(): void;
}

/**
 * Starts a program that never outlives this process and has no input. Rejects with `ProgramFailed` if no process can be
 * started.
 */
export async function startGuarded(call: GuardedProgram): Promise<GuardedChild> {
  const child = spawn(SHELL, ["-c", guardScript(call.ownFolder ?? null), call.program, ...call.args], {
    cwd: call.folder,
    env: call.environment ?? inheritedEnvironment(),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const exit = programEnd(child, call.onOutput);
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new ProgramFailed(`${call.program} could not be started`, { cause: error });
  }
  const group = child.pid;
  assert(group !== undefined, "a spawned child has a process id");
  return { group, exit, kill: () => killGroup(child, group) };
}

/**
 * Runs a program to its end. Rejects with `ProgramMissing`, `ProgramFailed` or the signal's reason, after the program
 * and its children have ended.
 */
export async function runGuarded(call: GuardedProgram, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const child = await startGuarded(call);
  const kill = (): void => child.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const { status, outputTail } = await child.exit;
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (status === NOT_FOUND || status === NOT_EXECUTABLE) throw new ProgramMissing(`${call.program} cannot be run`);
  if (status !== 0) throw new ProgramFailed(`${call.program} ended with ${statusText(status)}: ${outputTail}`);
}

/** Such as `exit status 3` or `signal 9`. */
export function statusText(status: number | null): string {
  if (status === null) return "signal 9";
  return status > SIGNAL_BASE ? `signal ${status - SIGNAL_BASE}` : `exit status ${status}`;
}

function programEnd(child: ChildProcess, onOutput: GuardedProgram["onOutput"]): Promise<ProgramEnd> {
  let outputTail = "";
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding("utf8");
    output?.on("data", (text: string) => {
      outputTail = (outputTail + text).slice(-OUTPUT_TAIL_CHARACTERS_MAX);
      onOutput?.(text);
    });
  }
  child.stdin?.on("error", () => {});
  child.on("error", () => resolve({ status: null, outputTail: outputTail.trim() }));
  child.on("close", (status) => resolve({ status, outputTail: outputTail.trim() }));
  return promise;
}

function killGroup(child: ChildProcess, group: number): void {
  if (child.exitCode !== null || child.signalCode !== null) return; // The id may belong to another process by now.
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    if (!(isRecord(error) && error["code"] === "ESRCH")) throw error;
  }
}
