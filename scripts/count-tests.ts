/**
 * Adds up the JSON reports of test runs, given as arguments, and prints one closing line. A run without a report counts
 * as one failure. Before it stands a line for each file that failed at first and passed alone.
 */

import { readFile } from "node:fs/promises";
import { countTests, readFlakyFiles, sumCounts } from "./test-counts.ts";

const reports = await Promise.all(process.argv.slice(2).map((file) => readFile(file, "utf8").catch(() => null)));
for (const file of reports.flatMap(readFlakyFiles)) console.log(`Flaky: ${file}`);
const { passed, failed, skipped } = sumCounts(reports.map(countTests));
console.log(`Tests: ${passed} passed, ${failed} failed, ${skipped} skipped`);
if (failed > 0) process.exitCode = 1;
