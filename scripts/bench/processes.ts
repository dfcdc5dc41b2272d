import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Scheduler ticks a second, as Linux reports processor time. */
const TICKS_PER_SECOND = 100;
const START_MS_MAX = 30_000;

export interface Started {
  readonly child: ChildProcess;
  /** What `ready` captured in the line that says the process is ready. */
  readonly match: RegExpExecArray;
}

/** Starts a program and waits for a line of its output that matches `ready`. */
export function startProgram(script: string, env: Record<string, string>, ready: RegExp): Promise<Started> {
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => reject(new Error(`${script} did not start: ${output}`)), START_MS_MAX);
    child.once("exit", (code) => reject(new Error(`${script} exited with ${code}: ${output}`)));
    child.stdout.on("data", (bytes: Buffer) => {
      output += bytes.toString();
      const match = ready.exec(output);
      if (match === null) return;
      clearTimeout(timer);
      resolve({ child, match });
    });
  });
}

/** The CPU time of a process so far in milliseconds, user and system. Linux only. */
export function cpuMs(child: ChildProcess): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** The resident memory of a process in bytes. Linux only. */
export function residentBytes(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}
