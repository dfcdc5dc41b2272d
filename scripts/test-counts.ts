export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface JsonReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly success: boolean;
  readonly flaky?: readonly string[];
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

/**
 * Counts the tests of one report. A file that could not be loaded counts as one failure; so does a run without a
 * report.
 */
export function countTests(json: string | null): TestCounts {
  if (json === null) return { passed: 0, failed: 1, skipped: 0 };
  const report: JsonReport = JSON.parse(json);
  const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  const failed = report.numFailedTests + broken.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !report.success ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** Returns the files that failed among the others and passed alone. */
export function readFlakyFiles(json: string | null): readonly string[] {
  if (json === null) return [];
  const report: JsonReport = JSON.parse(json);
  return report.flaky ?? [];
}

export function sumCounts(counts: readonly TestCounts[]): TestCounts {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of counts) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  return sum;
}
