import { parseArgs } from "node:util";
import { SharedDatabase } from "./database.ts";
import { runSeed } from "./seed.ts";
import { simulateSystem } from "./system.ts";

const startedAt = performance.now();
const realNow = performance.now.bind(performance);
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});
const database = await SharedDatabase.create();
simulateSystem();
const first = Number(values.seed ?? values.from);
const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first;
let [steps, found, ms] = [0, 0, 0];
const kinds = new Map<string, number[]>();
for (let seed = first; seed <= last; seed += 1) {
  const outcome = await runSeed(seed, database, values.seed !== undefined);
  steps += outcome.steps;
  ms += outcome.ms;
  if (values.seed !== undefined) console.log(outcome.trace.join("\n"), outcome.hash);
  if (outcome.violation === null) continue;
  found += 1;
  kinds.set(outcome.violation.promise, [...(kinds.get(outcome.violation.promise) ?? []), seed]);
  console.log(`seed ${seed}: ${outcome.violation.message.slice(0, values.seed === undefined ? 300 : 5000)}`);
}
for (const [kind, seeds] of kinds) console.log(kind, seeds.length, seeds.slice(0, 10).join(" "));
console.log(
  `${last - first + 1} seeds, ${found} found, ${steps} steps, ${Math.round(ms / 1000)} s simulated in ${Math.round(realNow() - startedAt)} ms`,
);
process.exit(found > 0 ? 1 : 0);
