import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { runMutations } from "./mutations.ts";
import { runSeeds, type SeedFault, type SeedRange } from "./worker-processes.ts";

const SEEDS = 300;
const TIMEOUT_MS = 240_000;

async function faultsOf(range: SeedRange): Promise<readonly SeedFault[]> {
  const faults: SeedFault[] = [];
  await runSeeds(range, (fault) => faults.push(fault) > 0);
  return faults;
}

/** The message with the last steps. */
function tell({ seed, message, trace }: SeedFault): string {
  return `${trace.slice(-50).join("\n")}\nseed ${seed}: ${message}`;
}

test(
  "nodes that crash, stand still and lose messages and replies keep what runs promise",
  async () => {
    const faults = await faultsOf({ from: 1, seeds: SEEDS, jobs: 2 });
    expect(faults.map(tell)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "no seed finds again what it has found",
  async () => {
    const found: readonly { readonly seed: number }[] = parse(
      readFileSync(join(import.meta.dirname, "found-seeds.yaml"), "utf8"),
    );
    expect(found.length).toBeGreaterThan(0);
    for (const { seed } of found) expect((await faultsOf({ from: seed, seeds: 1, jobs: 1 })).map(tell)).toEqual([]);
  },
  TIMEOUT_MS,
);

test(
  "a seed takes the same steps each time",
  async () => {
    const tracesOf = async () => (await runSeeds({ from: 7, seeds: 1, jobs: 1, isTraced: true }, () => true)).traces;
    const traces = await tracesOf();
    expect(traces.length).toBeGreaterThan(50);
    expect(await tracesOf()).toEqual(traces);
  },
  TIMEOUT_MS,
);

test(
  "a fault that is put in by hand is found",
  async () => {
    expect(await runMutations(["a reader gets events twice"], { from: 1, seeds: SEEDS, jobs: 2 })).toBe(true);
  },
  TIMEOUT_MS,
);
