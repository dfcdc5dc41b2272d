import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { assert } from "../base/assert.ts";
import { isRecord } from "../base/json/records.ts";
import { ProgramFailed } from "./child-program.ts";
import { inheritedEnvironment } from "./inherited-environment.ts";

const SHELL = "/bin/sh";
/**
 * Runs a program with its own input in a process group. A guard reads from a fourth pipe that only this process holds
 * open, and kills the group when this process ends for any reason. Core files are off.
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
  /** Added to the environment that programs inherit. */
  readonly environment: Readonly<Record<string, string>>;
  /** Called with what the program writes to stdout, in pieces of any length. What it writes to stderr is dropped. */
  readonly onOutput: (bytes: Buffer) => void;
  /** Called once when the program has ended and all its output is read. */
  readonly onEnd: () => void;
}

export interface PipedChild {
  /** Writes to the program's input; resolves when the program can take more. Rejects when its input is closed. */
  write(text: string): Promise<void>;
  /** Kills the program and its children at once. */
  kill(): void;
}

/** Starts a program that is talked to over its input and output, and never outlives this process. */
export async function startPiped(call: PipedProgram): Promise<PipedChild> {
  const child = spawn(SHELL, ["-c", GUARD_SCRIPT, call.program, ...call.args], {
    cwd: call.folder,
    env: { ...inheritedEnvironment(), ...call.environment },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    detached: true,
  });
  child.stdin.on("error", () => {}); // A write tells its own caller.
  child.stdio[3]?.on("error", () => {});
  child.stdout.on("data", call.onOutput);
  child.stderr.resume();
  child.on("close", call.onEnd);
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new ProgramFailed(`${call.program} could not be started`, { cause: error });
  }
  return { write: (text) => write(child, text), kill: () => killGroup(child) };
}

function write({ stdin }: ChildProcessWithoutNullStreams, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(text, (error) => (error == null ? resolve() : reject(error)));
  });
}

function killGroup(child: ChildProcessWithoutNullStreams): void {
  const group = child.pid;
  assert(group !== undefined, "a spawned child has a process id");
  if (child.exitCode !== null || child.signalCode !== null) return; // The id may belong to another process by now.
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    if (!(isRecord(error) && error["code"] === "ESRCH")) throw error;
  }
}
