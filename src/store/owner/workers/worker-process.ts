import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Process numbers are only comparable within one host and process namespace. */
export const HOST = `${hostname()} ${pidNamespace()}`;

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** Whether a worker's process has ended. Another process may have its number by now, and a zombie counts as ended. */
export function hasEnded(worker: WorkerProcess): boolean {
  try {
    process.kill(worker.pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return true;
  }
  const startTime = startOf(worker.pid);
  return startTime === DEAD || (startTime !== null && worker.started !== null && startTime !== worker.started);
}

export interface WorkerProcess {
  readonly id: number;
  readonly host: string;
  readonly pid: number;
  readonly started: string | null;
}

/** The start time of a zombie. */
const DEAD = "dead";

/** The start time of a process in clock ticks since boot; null if the system does not report it. */
export function startOf(pid: number): string | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The preceding process name may contain any characters.
    const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? DEAD : (fields[START_FIELD] ?? null);
  } catch {
    return null;
  }
}

/** Index of field 22 of `/proc/PID/stat`, counted from field 3, the state. */
const START_FIELD = 19;
