import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readMergedPacts } from "../contract-tests/merged-pacts.fixture.ts";
import { COMMITTED_DIR, PACTS_DIR } from "../contract-tests/pact-files.fixture.ts";
import { type Check, countsOf, type Report } from "../contract-tests/report/checks.ts";
import { REPORT_DIR } from "../contract-tests/report/reporter.ts";

/**
 * Runs the contract tests: consumers write their pacts, then providers are verified against them. Prints a line for
 * each file, what was skipped and why, and a closing line. Writes `build/contract-report/report.json` and `index.html`;
 * the output of Pact goes to `output.txt` beside them.
 */
const USAGE = `Usage: make contract-test ARGS="[options] [file or folder of contract-tests/]..."
  --base-url URL   a further provider to hold to the same pacts, without /v1; with --model MODEL, and --api-key KEY or CONTRACT_API_KEY in the environment
  --only LIST      providers, of: ours, reference, other
  --write-pacts    have the consumers write contract-tests/pacts anew, and nothing else

The reference is judged where REFERENCE_BASE_URL, REFERENCE_API_KEY and REFERENCE_MODEL are set.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "base-url": { type: "string" },
    "api-key": { type: "string" },
    model: { type: "string" },
    only: { type: "string" },
    "write-pacts": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Hides a deprecation warning of a library that Pact uses. */
const WITHOUT_WARNING = { NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --disable-warning=DEP0060` };

const provider = providerSettings();
if (values.help) {
  console.log(USAGE);
} else if (provider === null) {
  console.error("--base-url wants --model as well, and --api-key or CONTRACT_API_KEY.");
  process.exitCode = 2;
} else {
  rmSync(PACTS_DIR, { recursive: true, force: true });
  rmSync(REPORT_DIR, { recursive: true, force: true });
  mkdirSync(REPORT_DIR, { recursive: true });
  const engine = values["write-pacts"] ? null : buildEngine();
  const exitCode = await runSuites(values["write-pacts"] ? "contract-consumers" : "contract-*", provider);
  await engine;
  if (values["write-pacts"] && exitCode === 0) writePacts();
  process.exitCode = summarise() ? exitCode : 1;
}

/**
 * Builds the speech engine once, in two minutes, while other suites run. Suites that need it wait, and report if it
 * cannot be built.
 */
async function buildEngine(): Promise<void> {
  await once(spawn(process.execPath, [join(import.meta.dirname, "speech-engine.ts")], { stdio: "ignore" }), "close");
}

/** Sends the output of Pact, which cannot be silenced, to a file. */
async function runSuites(project: string, settings: Readonly<Record<string, string>>): Promise<number> {
  const output = openSync(join(REPORT_DIR, "output.txt"), "w");
  const suites = spawn(
    process.execPath,
    [join(import.meta.dirname, "../contract-tests/report/run-suites.ts"), "--project", project, ...positionals],
    { stdio: ["ignore", output, "inherit"], env: { ...process.env, ...WITHOUT_WARNING, ...settings } },
  );
  const [code] = await once(suites, "close");
  closeSync(output);
  return typeof code === "number" ? code : 1;
}

/** The settings of the additional provider; null if they are incomplete. */
function providerSettings(): Record<string, string> | null {
  const { "base-url": url, model, only } = values;
  const key = values["api-key"] ?? process.env["CONTRACT_API_KEY"];
  const chosen = only === undefined ? {} : { CONTRACT_PROVIDERS: only };
  if (url === undefined) return chosen;
  if (key === undefined || model === undefined) return null;
  return { ...chosen, CONTRACT_BASE_URL: url, CONTRACT_API_KEY: key, CONTRACT_MODEL: model };
}

function writePacts(): void {
  rmSync(COMMITTED_DIR, { recursive: true, force: true });
  mkdirSync(COMMITTED_DIR, { recursive: true });
  for (const [name, text] of readMergedPacts()) writeFileSync(join(COMMITTED_DIR, name), text);
}

/** Prints what was skipped, then the closing line. Returns false if there is no report or a check failed. */
function summarise(): boolean {
  const file = join(REPORT_DIR, "report.json");
  if (!existsSync(file)) {
    console.error(
      `The contract tests did not come to their end; ${join(REPORT_DIR, "output.txt")} says how far they came.`,
    );
    return false;
  }
  const report: Report = JSON.parse(readFileSync(file, "utf8"));
  const skipped = report.checks.filter(({ result }) => result === "skipped");
  for (const [reason, checks] of Map.groupBy(skipped, reasonOf)) console.log(`skipped ${checks.length}: ${reason}`);
  const { held, failed, skipped: skippedCount } = countsOf(report.checks);
  console.log(
    `Contract tests: ${held} held, ${failed} failed, ${skippedCount} skipped, in ${Math.round(report.durationMs / 1000)} s; build/contract-report/index.html says which`,
  );
  return failed === 0;
}

function reasonOf({ reasons }: Check): string {
  return reasons.join(" ");
}
