/**
 * Runs the tests, and then each failed file once more, alone. A file that passes alone counts as passed and as flaky:
 * the flaky files are listed with the errors of their first run. Arguments are files or folders. With options of Vitest
 * among them, a failed file is not run again. Writes Vitest's JSON report to `build/test-results/tests.json`.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FailedFile, OUTCOME_VARIABLE, type RunOutcome } from "./failed-files-reporter.ts";
import { type JsonReport, replaceResults } from "./rerun-reports.ts";

/** More failed files than these are no accident. */
const RERUN_FILES_MAX = 8;
const SHOWN_ERRORS_MAX = 5;
const FOLDER = "build/test-results";
const REPORT = join(FOLDER, "tests.json");
const OUTCOME_REPORTER = `--reporter=${join(import.meta.dirname, "failed-files-reporter.ts")}`;

const args = process.argv.slice(2);
const hasOptions = args.some((arg) => arg.startsWith("-"));

mkdirSync(FOLDER, { recursive: true });
const first = await runVitest(["--project", "tests", "--project", "postgres", ...args], "tests");
process.exitCode = first.exitCode;
if (first.exitCode !== 0 && !hasOptions && first.outcome !== null) {
  process.exitCode = (await clearByReruns(first.outcome)) ? 0 : 1;
}

/** Whether every failed file passed alone, and nothing failed that no file explains. */
async function clearByReruns({ failedFiles, unhandledErrors }: RunOutcome): Promise<boolean> {
  if (failedFiles.length === 0 || failedFiles.length > RERUN_FILES_MAX) return false;
  const flaky: FailedFile[] = [];
  for (const failure of failedFiles) {
    console.log(`\nRunning a failed file alone: ${failure.file} (${failure.project})`);
    const { exitCode } = await runVitest(["--project", failure.project, failure.file, "--maxWorkers=1"], "second-run");
    if (exitCode === 0) flaky.push(failure);
    noteSecondRun(failure.file);
  }
  for (const failure of flaky) printFlaky(failure);
  return flaky.length === failedFiles.length && unhandledErrors === 0;
}

function noteSecondRun(file: string): void {
  const second = join(FOLDER, "second-run.json");
  if (!existsSync(second)) return; // Vitest itself failed.
  const report: JsonReport = JSON.parse(readFileSync(REPORT, "utf8"));
  writeFileSync(REPORT, JSON.stringify(replaceResults(report, file, JSON.parse(readFileSync(second, "utf8")))));
}

function printFlaky({ file, project, errors }: FailedFile): void {
  console.log(`\nFlaky: ${file} (${project}) failed among the others and passed alone. Its first errors:`);
  for (const error of errors.slice(0, SHOWN_ERRORS_MAX)) {
    const lines = error.split("\n").filter((line) => !line.includes("node_modules"));
    console.log(lines.map((line) => `  ${line}`).join("\n"));
  }
}

/** Runs Vitest with a JSON report, `NAME.json`. The outcome is null if Vitest ended before it had one. */
async function runVitest(options: readonly string[], name: string) {
  const report = join(FOLDER, `${name}.json`);
  const outcomeFile = join(FOLDER, "outcome.json");
  for (const file of [report, outcomeFile]) rmSync(file, { force: true });
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, OUTCOME_REPORTER];
  const vitest = spawn("vitest", ["run", ...options, ...reporters], {
    stdio: "inherit",
    env: { ...process.env, [OUTCOME_VARIABLE]: outcomeFile },
  });
  const [code]: unknown[] = await once(vitest, "close");
  const outcome: RunOutcome | null = existsSync(outcomeFile) ? JSON.parse(readFileSync(outcomeFile, "utf8")) : null;
  return { exitCode: code === 0 ? 0 : 1, outcome };
}
