import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** More are not followed; a sandbox with this many is ended anyway. */
const PROCESSES_MAX = 2000;
const KIBIBYTE = 1024;

export interface TreeProcess {
  readonly id: number;
  /** Its memory in use, including shared memory. */
  readonly residentBytes: number;
  readonly threads: number;
  readonly isDead: boolean;
  /** Whether it is in a child process namespace. */
  readonly isInside: boolean;
  /** Whether it is the first of a process namespace, whose end is the end of all its processes. */
  readonly isFirstInside: boolean;
}

const LOOK_MS = 5;

/** This process and all its descendants. Empty outside Linux. */
export async function readProcessTree(root: number): Promise<readonly TreeProcess[]> {
  const tree: TreeProcess[] = [];
  for (let level = [root]; level.length > 0 && tree.length < PROCESSES_MAX; ) {
    const processes = await Promise.all(level.map(readProcess));
    tree.push(...processes.filter((entry) => entry !== null));
    const below = await Promise.all(level.map(childrenOf));
    level = below.flat();
  }
  return tree;
}

/** Null if there is no such process. */
export async function readProcess(id: number): Promise<TreeProcess | null> {
  const status = await readFile(`/proc/${id}/status`, "latin1").catch(() => null);
  if (status === null) return null;
  return {
    id,
    residentBytes: numberAfter(status, "VmRSS:") * KIBIBYTE,
    threads: numberAfter(status, "Threads:"),
    isDead: /^State:\s[ZX]/m.test(status),
    isInside: /^NSpid:(?:\s+\d+){2,}$/m.test(status),
    isFirstInside: /^NSpid:(?:\s+\d+)+\s+1$/m.test(status),
  };
}

/** Resolves when this process has ended, or after these milliseconds. */
export async function processIsGone(id: number, msMax: number): Promise<void> {
  for (let msLeft = msMax; msLeft > 0; msLeft -= LOOK_MS) {
    const entry = await readProcess(id);
    if (entry === null || entry.isDead) return;
    await setTimeout(LOOK_MS);
  }
}

/** The memory that these processes use together, counting shared memory once. */
export async function proportionalBytes(processes: readonly TreeProcess[]): Promise<number> {
  const each = await Promise.all(
    processes.map(async ({ id, residentBytes }) => {
      const rollup = await readFile(`/proc/${id}/smaps_rollup`, "latin1").catch(() => null);
      return rollup === null ? residentBytes : numberAfter(rollup, "Pss:") * KIBIBYTE;
    }),
  );
  return each.reduce((sum, bytes) => sum + bytes, 0);
}

async function childrenOf(id: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${id}/task`).catch(() => []);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${id}/task/${thread}/children`, "latin1").catch(() => "")),
  );
  return texts.flatMap((text) =>
    text
      .split(" ")
      .filter((word) => word !== "")
      .map(Number),
  );
}

function numberAfter(text: string, name: string): number {
  const start = text.indexOf(name);
  return start < 0 ? 0 : Number.parseInt(text.slice(start + name.length).trimStart(), 10);
}
