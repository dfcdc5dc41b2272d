import { join } from "node:path";
import { type Mutation, readMutations } from "../../contract-tests/mutations/read-mutations.ts";
import { runSeeds, type SeedFault, type SeedRange } from "./worker-processes.ts";

const LIST = join(import.meta.dirname, "mutations.yaml");

/** Puts one fault at a time into the nodes, and prints which seed found it. Resolves to whether all were found. */
export async function runMutations(words: readonly string[], range: SeedRange): Promise<boolean> {
  const mutations = readMutations(LIST).filter(
    ({ says }) => words.length === 0 || words.some((word) => says.includes(word)),
  );
  const lost: Mutation[] = [];
  for (const mutation of mutations) {
    const fault = await findFault(mutation, range);
    if (fault === null) lost.push(mutation);
    console.log(
      fault === null
        ? `NOT FOUND: ${mutation.says}`
        : `seed ${fault.seed} found: ${mutation.says} (${firstLine(fault.message)})`,
    );
  }
  console.log(`${mutations.length - lost.length} of ${mutations.length} faults put in by hand were found`);
  return lost.length === 0;
}

async function findFault(mutation: Mutation, range: SeedRange): Promise<SeedFault | null> {
  const found: SeedFault[] = [];
  const flags = ["--import", join(import.meta.dirname, "mutate.ts")];
  const env = { SIMULATED_MUTATION: JSON.stringify(mutation) };
  await runSeeds({ ...range, flags, env }, (fault) => {
    found.push(fault);
    return false;
  });
  return found[0] ?? null;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.slice(0, SHOWN_CHARACTERS) ?? "";
}

const SHOWN_CHARACTERS = 120;
