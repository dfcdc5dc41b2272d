import { resolve } from "node:path";

/** The parts of Vitest's JSON report that this reads and writes; the others are passed on. */
export interface JsonReport {
  readonly testResults: readonly FileResult[];
  /** Files that failed, and passed when they ran alone. */
  readonly flaky?: readonly string[];
}

interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string }[];
}

/**
 * Replaces the failed results of `file` by those of its second run, and counts anew. `file` is relative to the working
 * directory.
 */
export function replaceResults<T extends JsonReport>(report: T, file: string, second: JsonReport): T {
  const path = resolve(file);
  const failure = report.testResults.find(({ name, status }) => name === path && status === "failed");
  const others = report.testResults.filter((result) => result !== failure);
  const testResults = [...others, ...second.testResults];
  const flaky = second.testResults.every(({ status }) => status === "passed") ? [file] : [];
  return { ...report, testResults, flaky: [...(report.flaky ?? []), ...flaky], ...countResults(testResults) };
}

function countResults(files: readonly FileResult[]) {
  const statuses = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status));
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  return {
    numTotalTests: statuses.length,
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    numPendingTests: count("pending", "skipped", "disabled"),
    numTodoTests: count("todo"),
    success: files.every(({ status }) => status === "passed"),
  };
}
