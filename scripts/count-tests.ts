/**
 * Adds up the JSON reports of test runs, given as arguments, and prints one closing line. A run without a report counts
 * as one failure.
 */

import { readFile } from "node:fs/promises";
import { countTests, sumCounts } from "./test-counts.ts";

const reports = await Promise.all(process.argv.slice(2).map((file) => readFile(file, "utf8").catch(() => null)));
const { passed, failed, skipped } = sumCounts(reports.map(countTests));
console.log(`Tests: ${passed} passed, ${failed} failed, ${skipped} skipped`);
if (failed > 0) process.exitCode = 1;
