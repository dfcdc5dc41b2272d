import { parseArgs } from "node:util";
import { runMutations } from "./mutations.ts";
import { runSeeds, type SeedFault } from "./worker-processes.ts";

/**
 * Simulates nodes with faults, one seed after the other, and prints the first faults with their steps. Exits with an
 * error if there is one.
 *
 * usage: node tests/simulation/main.ts [--seeds 1000] [--from 1] [--jobs 2]
 *        node tests/simulation/main.ts --seed 17        prints all steps of this seed
 *        node tests/simulation/main.ts --mutations [words of the mutations to try]
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    jobs: { type: "string", default: "2" },
    seed: { type: "string" },
    mutations: { type: "boolean", default: false },
  },
});

const STEPS_SHOWN = 200;
const MS_PER_S = 1_000;

const SEEDS = 1_000;
/** A fault put in by hand is found by one of so many seeds. */
const SEEDS_OF_MUTATION = 3_000;

if (values.mutations) {
  const range = { from: 1, seeds: Number(values.seeds ?? SEEDS_OF_MUTATION), jobs: Number(values.jobs) };
  process.exitCode = (await runMutations(positionals, range)) ? 0 : 1;
} else if (values.seed === undefined) await simulate();
else await replay(Number(values.seed));

async function simulate(): Promise<void> {
  const startedAt = performance.now();
  const [from, seeds, jobs] = [Number(values.from), Number(values.seeds ?? SEEDS), Number(values.jobs)];
  const faults: SeedFault[] = [];
  const sum = await runSeeds({ from, seeds, jobs }, (fault) => {
    if (faults.push(fault) === 1) show(fault);
    else console.log(`seed ${fault.seed}: ${fault.message}`);
    return true;
  });
  const seconds = Math.round((performance.now() - startedAt) / MS_PER_S);
  console.log(
    `${sum.seeds} seeds, ${sum.steps} steps, ${Math.round(sum.simulatedMs / MS_PER_S)} s simulated in ${seconds} s; ${faults.length} seeds found a fault`,
  );
  if (faults.length > 0) process.exitCode = 1;
}

function show({ seed, message, trace, hash }: SeedFault): void {
  console.log(trace.slice(-STEPS_SHOWN).join("\n"));
  console.log(`seed ${seed}: ${message}`);
  console.log(`These are its last steps; all of them (${hash}): make simulate ARGS="--seed ${seed}"`);
}

async function replay(seed: number): Promise<void> {
  const { traces } = await runSeeds({ from: seed, seeds: 1, jobs: 1, isTraced: true }, (fault) => {
    console.log(fault.trace.join("\n"));
    console.log(`seed ${seed}: ${fault.message}`);
    process.exitCode = 1;
    return true;
  });
  if (process.exitCode !== 1) console.log(traces.join("\n"));
}
