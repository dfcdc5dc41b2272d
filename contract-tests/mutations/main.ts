import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACTS_DIR } from "../pact-files.fixture.ts";
import type { Check } from "../report/checks.ts";
import { type Mutation, readMutations } from "./read-mutations.ts";
import { copyRepository, type WorkingCopy } from "./working-copy.ts";

/**
 * Applies one mutation at a time to copies of the server and reports which contract suites fail. Exits with an error if
 * no suite notices a mutation. Writes the table to build/mutations.md.
 *
 * usage: node contract-tests/mutations/main.ts [--jobs 2] [words of the mutations to try]
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: "string", default: "2" } },
});

const HTTP = ["responses-api.provider", "recorded-parity"];
const EVENTS = ["stream-events.provider"];
const SOCKETS = ["socket-messages.provider"];
const RENDERER = ["renderer.provider"];
/** Suites to run, by the path of the mutated file. The next group runs only if the one before did not notice. */
const SUITES_BY_PATH: readonly (readonly [RegExp, readonly (readonly string[])[]])[] = [
  [/^packages\/speech\//, [["local-stt", "cloud-stt"]]],
  [/^src\/runs\/|(sse|show-events)\.ts$/, [EVENTS, HTTP, SOCKETS, RENDERER]],
  [/\/websocket\//, [SOCKETS]],
  [/^(src|packages)\//, [HTTP, EVENTS, SOCKETS, RENDERER]],
];

interface Outcome {
  readonly mutation: Mutation;
  /** Failed checks. Empty if no suite noticed. */
  readonly failed: readonly Check[];
}

const mutations = readMutations().filter(
  ({ says }) => positionals.length === 0 || positionals.some((words) => says.includes(words)),
);
mkdirSync(PACTS_DIR, { recursive: true });
const copies = Array.from({ length: Number(values.jobs) }, copyRepository);
try {
  await checkWithoutMutation(copies[0]);
  const results = await tryAll(mutations);
  const table = tableOf(results);
  writeFileSync(join(import.meta.dirname, "../../build/mutations.md"), table);
  const unnoticed = results.filter(({ failed }) => failed.length === 0);
  for (const { mutation } of unnoticed) console.log(`NOT NOTICED: ${mutation.says} (${mutation.file})`);
  console.log(
    `${results.length - unnoticed.length} of ${results.length} mutations were noticed; see build/mutations.md`,
  );
  if (unnoticed.length > 0) process.exitCode = 1;
} finally {
  for (const copy of copies) copy.remove();
}

/** A suite that fails without a mutation would seem to notice every one. */
async function checkWithoutMutation(copy: WorkingCopy | undefined): Promise<void> {
  const report = await copy?.run(null, ["local-stt", "cloud-stt", ...HTTP, ...EVENTS, ...SOCKETS, ...RENDERER]);
  const failed = report?.checks.filter(({ result }) => result === "failed") ?? [];
  if (failed.length > 0)
    throw new Error(`The suites fail without a mutation: ${failed.map(({ name }) => name).join("; ")}`);
}

/** Each working copy takes the next mutation when it is free. */
async function tryAll(all: readonly Mutation[]): Promise<Outcome[]> {
  const waiting = [...all.entries()];
  const results: Outcome[] = [];
  await Promise.all(
    copies.map(async (copy) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, mutation] = next;
        const failed = await failedChecks(copy, mutation);
        results[index] = { mutation, failed };
        console.log(`${failed.length === 0 ? "NOT NOTICED" : `noticed by ${suitesOf(failed)}`}: ${mutation.says}`);
      }
    }),
  );
  return results;
}

async function failedChecks(copy: WorkingCopy, mutation: Mutation): Promise<Check[]> {
  const [, stages = []] = SUITES_BY_PATH.find(([place]) => place.test(mutation.file)) ?? [];
  for (const suites of stages) {
    const { checks } = await copy.run(mutation, suites);
    const failed = checks.filter(({ result }) => result === "failed");
    if (failed.length > 0) return failed;
  }
  return [];
}

function suitesOf(failed: readonly Check[]): string {
  return [...Map.groupBy(failed, ({ suite }) => suite)]
    .map(([suite, checks]) => `${suite} (${checks.length})`)
    .join(", ");
}

function tableOf(results: readonly Outcome[]): string {
  const rows = results.map(({ mutation, failed }) => {
    const first = failed[0];
    const example = first === undefined ? "nobody" : [first.group, first.name].filter((part) => part !== "").join(": ");
    return `| ${mutation.says} | ${suitesOf(failed)} | ${example.replaceAll("|", "\\|")} |`;
  });
  return `| What was broken | Suite that noticed | For instance |\n|---|---|---|\n${rows.join("\n")}\n`;
}
