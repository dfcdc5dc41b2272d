import { join } from "node:path";
import { startVitest } from "vitest/node";
import { ContractReporter, REPORT_DIR } from "./reporter.ts";

/** Runs the suites of the projects that the first argument names, in the files that the others name, if any do. The exit code says whether all held. */
const [project = "contract-*", ...files] = process.argv.slice(2);
await startVitest("test", files, {
  run: true,
  project,
  reporters: [new ContractReporter(), "default", "json"],
  outputFile: { json: join(REPORT_DIR, "tests.json") },
});
