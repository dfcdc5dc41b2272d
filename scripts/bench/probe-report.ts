import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Probed } from "./probed.ts";

const POLL_MS = 20;

/** Flags of Node that load the probe into a server. */
export const PROBE_FLAGS: readonly string[] = ["--import", join(import.meta.dirname, "probe.ts")];

/**
 * Asks the probe in a server for what it measured since the last report. `file` is the one that its `LOOP_PROBE_FILE`
 * names.
 */
export async function takeReport({ pid }: { readonly pid: number }, file: string): Promise<Probed> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await sleep(POLL_MS);
  await sleep(POLL_MS); // Until it is written.
  return JSON.parse(readFileSync(file, "utf8"));
}
