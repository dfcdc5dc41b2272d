import { readdirSync, readFileSync } from "node:fs";
import { expect } from "vitest";

/** The processes that run a model for a server, which starts each below a guard. */
export function modelPids(server = process.pid): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readProc(pid, "cmdline").includes("embedded-model/child/main"))
    .filter((pid) => parentOf(parentOf(pid)) === server && readProc(pid, "comm").trim() !== "sh");
}

/** Kills the model's process, and resolves to the id of the one that takes its place. */
export async function killModel(): Promise<number> {
  const [pid] = modelPids();
  expect(pid).toBeDefined();
  process.kill(pid ?? 0, "SIGKILL");
  let next: number | undefined;
  await expect
    .poll(() => {
      next = modelPids().find((other) => other !== pid);
      return next;
    })
    .toBeDefined();
  return next ?? 0;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(readProc(pid, "status"))?.[1] ?? 0);
}

/** Empty if the process has gone. */
export function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}
