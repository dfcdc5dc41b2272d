/**
 * Runs all checks in parallel and prints a line for each. The output of a check is shown if it fails or is a report.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { delimiter, resolve } from "node:path";

interface Check {
  readonly name: string;
  readonly command: string;
  /** Its output is shown even if it succeeds. */
  readonly isReport?: boolean;
}

/** The slowest first, so that they do not run alone at the end. */
const CHECKS: readonly Check[] = [
  { name: "generated", command: "node scripts/codegen/generate.ts --check", isReport: true },
  { name: "types", command: "tsc -p tsconfig.json" },
  { name: "contract lint", command: "node scripts/codegen/lint-specs.ts" },
  { name: "lint", command: "oxlint --type-aware --deny-warnings --report-unused-disable-directives --format=unix" },
  { name: "dead code", command: "knip --no-progress" },
  { name: "imports", command: "node scripts/check-imports.ts" },
  { name: "format", command: "biome check --error-on-warnings --reporter=summary" },
  { name: "tidy", command: "node scripts/tidy.ts" },
  { name: "commits", command: "node scripts/check-commits.ts", isReport: true },
  { name: "settings docs", command: "node scripts/config-docs.ts --check" },
  { name: "requirements", command: "node scripts/requirements-coverage.ts", isReport: true },
  { name: "operations", command: "node scripts/not-implemented.ts", isReport: true },
];

const ROOT = resolve(import.meta.dirname, "..");
const ENVIRONMENT = {
  ...process.env,
  PATH: [resolve(ROOT, "node_modules/.bin"), process.env["PATH"]].join(delimiter),
  NO_COLOR: "1",
};

const failed: string[] = [];
const waiting = CHECKS.values();
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runWaiting));
console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}`);
if (failed.length > 0) process.exitCode = 1;

/** Runs waiting checks one after another. Several of these loops share the list. */
async function runWaiting(): Promise<void> {
  for (const check of waiting) await run(check);
}

async function run({ name, command, isReport }: Check): Promise<void> {
  const startedAt = performance.now();
  const [program = "", ...parameters] = command.split(" ");
  const child = spawn(program, parameters, { cwd: ROOT, env: ENVIRONMENT, stdio: ["ignore", "pipe", "pipe"] });
  const output: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => output.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => output.push(text));
  const status = await once(child, "close").then(
    ([code]) => (code === 0 ? "ok" : "FAILED"),
    (error: unknown) => `FAILED to start: ${String(error)}`,
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${name.padEnd(14)} ${seconds.padStart(5)} s  ${status}`);
  if (status !== "ok") failed.push(name);
  if (status !== "ok" || isReport === true) console.log(indent(output.join("")));
}

function indent(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
}
