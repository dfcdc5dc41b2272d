import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Whether a process of this machine runs. One that has ended but was not waited for does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^\d+ \(.*\) Z/s.test(readProcessFile(pid, "stat"));
}

/** The processes that the main thread of a process started and that run. Empty where the system does not tell. */
export function childrenOf(pid: number): readonly number[] {
  return readProcessFile(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** Bytes of memory that a process of this machine holds now, or held at its peak, as Linux reports. */
export async function memoryOf(pid: number): Promise<{ readonly residentBytes: number; readonly peakBytes: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0) * 1024;
  return { residentBytes: bytesOf("VmRSS"), peakBytes: bytesOf("VmHWM") };
}

/** The text of a file of `/proc`; empty if the process is gone or the system is not Linux. */
function readProcessFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
