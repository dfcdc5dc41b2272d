interface JsonReport {
  readonly testResults: readonly { readonly assertionResults: readonly TestResult[] }[];
}

interface TestResult {
  readonly status: string;
  readonly fullName: string;
  readonly meta?: { readonly verifies?: readonly string[] };
}

/** Reads JSON reports of test runs: the titles of passed tests by the requirement that they cite. */
export function readPassedCitations(reports: readonly string[]): Map<string, readonly string[]> {
  const passed = new Map<string, readonly string[]>();
  for (const json of reports) {
    const report: JsonReport = JSON.parse(json);
    for (const { status, fullName, meta } of report.testResults.flatMap(({ assertionResults }) => assertionResults)) {
      if (status !== "passed") continue;
      for (const id of new Set(meta?.verifies)) passed.set(id, [...(passed.get(id) ?? []), fullName]);
    }
  }
  return passed;
}
