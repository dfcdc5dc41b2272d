import { expect, test } from "vitest";
import { countTests, sumCounts } from "./test-counts.ts";

const report = {
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 1,
  success: true,
  testResults: [{ status: "passed", assertionResults: [{}, {}, {}] }],
};

function check(changes: Partial<typeof report>, passed: number, failed: number, skipped: number): void {
  expect(countTests(JSON.stringify({ ...report, ...changes }))).toEqual({ passed, failed, skipped });
}

test("tests to be written count as skipped", () => check({}, 3, 0, 2));
test("a file that cannot be loaded is a failure", () => {
  check({ success: false, testResults: [{ status: "failed", assertionResults: [] }] }, 3, 1, 2);
});
test("a failed test is counted once, and its file is not", () => {
  check({ success: false, numFailedTests: 2, testResults: [{ status: "failed", assertionResults: [{}] }] }, 3, 2, 2);
});
test("a run that fails with all its tests passed is a failure", () => check({ success: false }, 3, 1, 2));
test("a run without a report is a failure", () => expect(countTests(null).failed).toBe(1));
test("runs are added up", () => {
  expect(sumCounts([countTests(JSON.stringify(report)), countTests(null)])).toEqual({
    passed: 3,
    failed: 1,
    skipped: 2,
  });
});
