import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ProgramFailed } from "./child-program.ts";
import { inheritedEnvironment } from "./inherited-environment.ts";

const SHELL = "/bin/sh";
/**
 * Runs a program with its own input in a process group. A guard reads from a fourth pipe whose other end only this
 * process has open, and kills the group when this process ends for any reason. Core files are off.
 */
const GUARD_SCRIPT = `ulimit -c 0
exec 4<&0
"$0" "$@" <&4 3<&- 4<&- &
program=$!
exec 4<&- </dev/null
(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 &
guard=$!
wait $program
status=$?
kill -KILL $guard 2>/dev/null
exit $status`;

export interface PipedProgram {
  /** A path, or a name that is looked up on PATH. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  /** Added to the inherited environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it gets only `environment`. */
  readonly isEnvironmentWhole?: boolean;
  /** The user and group id to run as, if this process may choose it. */
  readonly userId?: number;
  /** A file descriptor that the program gets as number 5. */
  readonly file?: number;
  /** Called with what the program writes to stdout, in pieces of any length. */
  readonly onOutput: (bytes: Buffer) => void;
  /** Called with the program's stderr, which is dropped otherwise. */
  readonly onComplaint?: (bytes: Buffer) => void;
  /** Called once when the program has ended and all its output is read. */
  readonly onEnd: () => void;
}

export interface PipedChild {
  /** The id of the process group of the guard and the program. */
  readonly group: number;
  /** Writes to the program's input; resolves when the program accepts more. Rejects when its input is closed. */
  write(input: string | Uint8Array): Promise<void>;
  /** Kills the program and its children at once. */
  kill(): void;
}

/** Starts an interactive program that never outlives this process. */
export async function startPiped(call: PipedProgram): Promise<PipedChild> {
  const child = spawn(SHELL, ["-c", GUARD_SCRIPT, call.program, ...call.args], {
    cwd: call.folder,
    env: { ...(call.isEnvironmentWhole === true ? {} : inheritedEnvironment()), ...call.environment },
    stdio: ["pipe", "pipe", "pipe", "pipe", ...(call.file === undefined ? [] : ["ignore" as const, call.file])],
    detached: true,
    ...(call.userId === undefined ? {} : { uid: call.userId, gid: call.userId }),
  });
  const { stdin, stdout, stderr } = child;
  assert(stdin !== null && stdout !== null && stderr !== null, "the child has the requested pipes");
  stdin.on("error", () => {}); // Each write reports its own error.
  child.stdio[3]?.on("error", () => {});
  stdout.on("data", call.onOutput);
  stderr.on("data", call.onComplaint ?? (() => {}));
  child.on("close", call.onEnd);
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new ProgramFailed(`${call.program} could not be started`, { cause: error });
  }
  const group = child.pid;
  assert(group !== undefined, "a spawned child has a process id");
  return { group, write: (input) => write(stdin, input), kill: () => killGroup(child, group) };
}

function write(stdin: Writable, input: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(input, (error) => (error == null ? resolve() : reject(error)));
  });
}

function killGroup(child: ChildProcess, group: number): void {
  if (child.exitCode !== null || child.signalCode !== null) return; // The id may belong to another process by now.
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    if (!(isRecord(error) && error["code"] === "ESRCH")) throw error;
  }
}
