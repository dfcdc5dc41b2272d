import { join } from "node:path";
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";
import { ContractReporter, REPORT_DIR } from "./reporter.ts";

/**
 * Runs the suites of a project, or only the named files. The exit code is 0 if all checks passed. `--bail N` stops
 * after N failures.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { project: { type: "string", default: "contract-*" }, bail: { type: "string", default: "0" } },
});
await startVitest("test", positionals, {
  run: true,
  project: values.project,
  bail: Number(values.bail),
  reporters: [new ContractReporter(), "default", "json"],
  outputFile: { json: join(REPORT_DIR, "tests.json") },
});
