import { expect, test } from "vitest";
import { findCitations, measureCoverage, parseRequirements, reportCoverage } from "./requirements-coverage.ts";

// Put together here, so that the samples below are not taken for citations of this file.
const VERIFIES = "verifies";

function check(code: string, ids: readonly string[]): void {
  expect(findCitations({ path: "a.test.ts", code }).map((citation) => citation.id)).toEqual(ids);
}

test("a call cites its leading strings, in any quotes and over several lines", () => {
  check(`${VERIFIES}("a.b.c", () => check("x.y.z"));`, ["a.b.c"]);
  check(`${VERIFIES}("a.b.c", 'a.b.d', async () => {});`, ["a.b.c", "a.b.d"]);
  check(`${VERIFIES}(\n  "a.b.c",\n  \`a.b.d\`,\n);`, ["a.b.c", "a.b.d"]);
});

test("a title among the strings of a call is not an id", () => {
  check(`${VERIFIES}("a.b.c", "nothing follows the end", () => {});`, ["a.b.c"]);
});

test("a comment cites a list of ids up to the end of its line", () => {
  check(`// ${VERIFIES}: a.b.c, a.b.d\ntest("x", () => {});`, ["a.b.c", "a.b.d"]);
});

test("other calls and words cite nothing", () => {
  check(`import { ${VERIFIES} } from "./verifies.ts";\nit${VERIFIES}("a.b.c"); test("a.b.c", () => {});`, []);
});

test("requirements are split into cited and uncited, and ids without a requirement are reported with their place", () => {
  const requirements = parseRequirements(yaml("a.b.c", "a.b.d"));
  const coverage = measureCoverage(requirements, [{ path: "a.test.ts", code: `\n${VERIFIES}("a.b.c", "a.b.x");` }]);
  expect(coverage.cited.map(({ id }) => id)).toEqual(["a.b.c"]);
  expect(coverage.uncited.map(({ id }) => id)).toEqual(["a.b.d"]);
  expect(coverage.unknown).toEqual([{ id: "a.b.x", path: "a.test.ts", line: 2 }]);
  expect(reportCoverage(coverage, true)).toBe(
    "a.test.ts:2 cites a.b.x, which is not in specs/requirements.yaml\nnot cited: a.b.d  T.\n1 of 2 requirements are cited by tests, 1 are not.",
  );
  expect(reportCoverage(coverage, false)).not.toContain("a.b.d");
});

test("a list with a repeated or broken entry is refused", () => {
  expect(() => parseRequirements(yaml("a.b.c", "a.b.c"))).toThrow("Two requirements have the id a.b.c.");
  expect(() => parseRequirements(yaml("a.b"))).toThrow("Requirement 1 has no id of the form area.topic.behaviour.");
  expect(() => parseRequirements("- id: a.b.c")).toThrow("a.b.c lacks its source or its text.");
  expect(() => parseRequirements("{}")).toThrow("The requirements are not a list.");
});

function yaml(...ids: readonly string[]): string {
  return ids.map((id) => `- { id: ${id}, source: ours, section: s, text: T. }`).join("\n");
}
