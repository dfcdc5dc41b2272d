import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { assert } from "../base/assert.ts";
import { isRecord } from "../base/json/records.ts";
import { ProgramFailed, ProgramMissing } from "./child-program.ts";
import { inheritedEnvironment } from "./inherited-environment.ts";

/** How much of what a program says last is kept. */
const LAST_WORDS_CHARACTERS_MAX = 4000;
const SHELL = "/bin/sh";
/** What a shell says of a program that it cannot run. */
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
const SIGNAL_BASE = 128;

/**
 * Runs a program in a process group that ends with us, however we end: the guard reads from a pipe that only we hold
 * open. Core files are off, because they would keep on disk what the program had in memory.
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
  /** The whole environment; left out: what `inheritedEnvironment` passes on. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder that only the program uses. It is removed if this process ends before the program does. */
  readonly ownFolder?: string;
  /** Gets what the program writes, to whichever output, in pieces that end anywhere. */
  readonly onOutput?: (text: string) => void;
}

export interface ProgramEnd {
  /** Exit status, 128 and the number of the signal that ended it; null where it was killed by us. */
  readonly status: number | null;
  /** The end of what it wrote, to whichever output. */
  readonly lastWords: string;
}

export interface GuardedChild {
  /** Number of the process group, which holds the guard, the program and whatever that started. */
  readonly group: number;
  /** Resolves once all output is read; never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Ends the whole group at once. */
  kill(): void;
}

/**
 * Starts a program that never outlives this process. It reads nothing. Rejects with `ProgramFailed` where no process
 * can be started.
 */
export async function startGuarded(call: GuardedProgram): Promise<GuardedChild> {
  const child = spawn(SHELL, ["-c", guardScript(call.ownFolder ?? null), call.program, ...call.args], {
    cwd: call.folder,
    env: call.environment ?? inheritedEnvironment(),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const ended = endOf(child, call.onOutput);
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new ProgramFailed(`${call.program} could not be started`, { cause: error });
  }
  const group = child.pid;
  assert(group !== undefined, "a child that was spawned has a number");
  return { group, ended, kill: () => killGroup(child, group) };
}

/**
 * Runs a program to its end. Rejects with `ProgramMissing`, `ProgramFailed` or the signal's reason; everything it
 * started is gone by then.
 */
export async function runGuarded(call: GuardedProgram, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const child = await startGuarded(call);
  const kill = (): void => child.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const { status, lastWords } = await child.ended;
  signal.removeEventListener("abort", kill);
  signal.throwIfAborted();
  if (status === NOT_FOUND || status === NOT_EXECUTABLE) throw new ProgramMissing(`${call.program} cannot be run`);
  if (status !== 0) throw new ProgramFailed(`${call.program} ended with ${statusText(status)}: ${lastWords}`);
}

/** Such as `exit status 3` or `signal 9`. */
export function statusText(status: number | null): string {
  if (status === null) return "signal 9";
  return status > SIGNAL_BASE ? `signal ${status - SIGNAL_BASE}` : `exit status ${status}`;
}

function endOf(child: ChildProcess, onOutput: GuardedProgram["onOutput"]): Promise<ProgramEnd> {
  let lastWords = "";
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  for (const output of [child.stdout, child.stderr]) {
    output?.setEncoding("utf8");
    output?.on("data", (text: string) => {
      lastWords = (lastWords + text).slice(-LAST_WORDS_CHARACTERS_MAX);
      onOutput?.(text);
    });
  }
  child.stdin?.on("error", () => {});
  child.on("error", () => resolve({ status: null, lastWords: lastWords.trim() }));
  child.on("close", (status) => resolve({ status, lastWords: lastWords.trim() }));
  return promise;
}

function killGroup(child: ChildProcess, group: number): void {
  if (child.exitCode !== null || child.signalCode !== null) return; // The number may be another's by now.
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    if (!(isRecord(error) && error["code"] === "ESRCH")) throw error;
  }
}
