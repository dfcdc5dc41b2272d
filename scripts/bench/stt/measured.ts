import { readdirSync, readFileSync } from "node:fs";

export interface Measured {
  /** From the end of the sound to its transcript, in milliseconds. */
  readonly waitMs: number;
  /** CPU time of all processes involved, from the first byte on, in milliseconds. */
  readonly cpuMs: number;
}

const MS_PER_TICK = 10;

/** CPU time of a process and its running descendants so far, in milliseconds. Linux only. */
export function cpuOfTree(root: number): number {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(name);
      if (stat === null) return [];
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return [{ pid: Number(name), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) }];
    });
  const tree = new Set([root]);
  for (let before = 0; before < tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of processes) if (tree.has(parent)) tree.add(pid);
  }
  return processes.filter(({ pid }) => tree.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0) * MS_PER_TICK;
}

function statOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null; // The process has ended.
  }
}
