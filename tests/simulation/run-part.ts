/** Runs every so many seeds, and tells its parent how each one ended. usage: run-part.ts FROM END STEP [traced] */
import { SharedDatabase } from "./database.ts";
import { runSeed } from "./seed.ts";
import { simulateSystem } from "./system.ts";
import type { SeedReport } from "./worker-processes.ts";

/** Of so many seeds, one is run twice, to see that it takes the same steps. */
const RUN_TWICE_EACH = 50;

const [from = "1", end = "2", step = "1", traced = ""] = process.argv.slice(2);
const database = await SharedDatabase.create();
simulateSystem();
for (let seed = Number(from); seed < Number(end); seed += Number(step)) await tell(await reportOf(seed));
process.disconnect();

async function reportOf(seed: number): Promise<SeedReport> {
  const isTraced = traced !== "";
  const { steps, ms: simulatedMs, hash, violation, trace } = await runSeed(seed, database, isTraced);
  const report = { seed, steps, simulatedMs, hash, trace };
  const isTried = violation !== null || isTraced || seed % RUN_TWICE_EACH === 0;
  if (!isTried) return { ...report, message: null };
  const again = await runSeed(seed, database, true);
  if (again.hash !== hash) return { ...report, message: `the same seed took other steps (${hash}, ${again.hash})` };
  return { ...report, message: violation?.message ?? null, trace: violation === null && !isTraced ? [] : again.trace };
}

function tell(report: SeedReport): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(report, undefined, undefined, () => resolve());
  });
}
