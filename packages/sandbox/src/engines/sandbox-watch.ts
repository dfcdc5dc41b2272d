import { statfs } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type { SessionEnd } from "@antiphon/domain/containers.ts";
import type { SandboxLimits } from "../ports/sandbox-engine.ts";
import { proportionalBytes, readProcessTree, type TreeProcess } from "./process-tree.ts";

const TICK_MS = 100;
/** This many consecutive checks at the maximum of processes mean a fork bomb. */
const FULL_LOOKS_MAX = 20;
/** The kernel needs about a kibibyte per file, even if it is empty. */
const ENTRIES_MAX = 50_000;

export interface WatchedSandbox {
  /** The ancestor of all the sandbox's processes. */
  readonly root: number;
  readonly limits: SandboxLimits;
  /** Processes of the root outside the sandbox. */
  readonly ownProcesses: number;
  /** Folders in memory whose entries are counted. */
  readonly folders: readonly string[];
}

/**
 * Checks a sandbox's processes from outside, several times a second, until the signal aborts. Kernel limits are per
 * process, and some do not apply to root, so this counts all of them together.
 */
export async function watchSandbox(
  target: WatchedSandbox,
  stop: (reason: SessionEnd) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let fullLooks = 0; !signal.aborted; ) {
    const processes = (await readProcessTree(target.root)).filter(({ isDead }) => !isDead);
    const count = processes.length - target.ownProcesses;
    fullLooks = count >= target.limits.processesMax ? fullLooks + 1 : 0;
    if (count > 2 * target.limits.processesMax || fullLooks > FULL_LOOKS_MAX) stop("too_many_processes");
    else if (await usesTooMuch(target, processes)) stop("out_of_memory");
    await setTimeout(TICK_MS, null, { signal }).catch(() => null); // Aborted.
  }
}

async function usesTooMuch(target: WatchedSandbox, processes: readonly TreeProcess[]): Promise<boolean> {
  const most = target.limits.memoryBytes;
  const resident = processes.reduce((sum, process) => sum + process.residentBytes, 0);
  if (resident > most && (await proportionalBytes(processes)) > most) return true;
  const inside = processes.findLast(({ isInside }) => isInside); // Others see the folders of this machine.
  if (inside === undefined) return false;
  const entries = await Promise.all(
    target.folders.map(async (folder) => {
      const system = await statfs(`/proc/${inside.id}/root${folder}`).catch(() => null);
      return system === null ? 0 : system.files - system.ffree;
    }),
  );
  return entries.some((count) => count > ENTRIES_MAX);
}
