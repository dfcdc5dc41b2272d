import { expect, test } from "vitest";
import { readPassedCitations } from "./passed-citations.ts";
import { parseRequirements } from "./requirements.ts";
import {
  describeCoverage,
  type Evidence,
  findCitations,
  isComplete,
  listRequirements,
  measureCoverage,
} from "./requirements-coverage.ts";

// A variable, so that the samples below do not count as citations of this file.
const VERIFIES = "verifies";

function checkCitations(code: string, ids: readonly string[]): void {
  expect(findCitations({ path: "a.test.ts", code }).map((citation) => citation.id)).toEqual(ids);
}

test("a call cites its leading strings, in any quotes and over several lines", () => {
  checkCitations(`${VERIFIES}("a.b.c", () => check("x.y.z"));`, ["a.b.c"]);
  checkCitations(`${VERIFIES}("a.b.c", 'a.b.d', async () => {});`, ["a.b.c", "a.b.d"]);
  checkCitations(`${VERIFIES}(\n  "a.b.c",\n  \`a.b.d\`,\n);`, ["a.b.c", "a.b.d"]);
});

test("a title among the strings of a call is not an id", () => {
  checkCitations(`${VERIFIES}("a.b.c", "nothing follows the end", () => {});`, ["a.b.c"]);
});

test("comments, other calls and other words cite nothing", () => {
  checkCitations(`// ${VERIFIES}: a.b.c\nimport { ${VERIFIES} } from "./verifies.ts";\nit${VERIFIES}("a.b.c");`, []);
});

const REQUIREMENTS = parseRequirements(`
- { id: a.b.plain, source: ours, section: s, text: Plain. }
- { id: a.b.key, source: ours, section: s, needs: SOME_KEY program, text: With a key. }
- { id: a.b.later, source: ours, section: s, awaits: tools, text: Later. }
`);
const COMPLETE = `${VERIFIES}("a.b.plain", "a.b.key");`;

/**
 * `passed`: the ids that tests cited which passed; null: none were run. The faults are what is said before the count;
 * excuses are none.
 */
function check(code: string, passed: readonly string[] | null, variables: readonly string[], said: string): void {
  const evidence: Evidence = {
    citations: findCitations({ path: "a.test.ts", code }),
    passed: passed === null ? null : new Map(passed.map((id) => [id, ["a test"]])),
    isThere: (need) => variables.includes(need),
    isLeftOut: () => false,
  };
  const coverage = measureCoverage(REQUIREMENTS, evidence);
  const lines = describeCoverage(coverage, evidence).split("\n");
  expect(lines.pop()).toBe("1 wait for a part that is not built: tools.");
  expect(lines.join("\n")).toBe(said);
  const faults = lines.slice(0, -1).filter((line) => !line.includes("not shown here"));
  expect(isComplete(coverage)).toBe(faults.length === 0);
}

test("all requirements of what is built are cited", () => {
  check(COMPLETE, null, [], "2 of 2 requirements are cited by tests.");
  check(
    COMPLETE,
    ["a.b.plain", "a.b.key"],
    ["SOME_KEY", "program"],
    "2 of 2 requirements are shown by tests that passed.",
  );
});

test("a requirement that no test cites is named", () => {
  check(
    `${VERIFIES}("a.b.key");`,
    null,
    [],
    "a.b.plain is cited by no test: Plain.\n1 of 2 requirements are cited by tests.",
  );
});

test("a citation by a test that did not pass or did not run shows nothing", () => {
  check(
    `\n${COMPLETE}`,
    ["a.b.key"],
    [],
    "a.b.plain is cited by no test that passed (a.test.ts:2): Plain.\n1 of 2 requirements are shown by tests that passed.",
  );
});

test("a test may be skipped for want of the setting that its requirement names, and is owed where it is set", () => {
  check(
    COMPLETE,
    ["a.b.plain"],
    [],
    "a.b.key is not shown here: its tests need SOME_KEY and program.\n1 of 2 requirements are shown by tests that passed.",
  );
  check(
    COMPLETE,
    ["a.b.plain"],
    ["SOME_KEY", "program"],
    "a.b.key is cited by no test that passed (a.test.ts:1): With a key.\n1 of 2 requirements are shown by tests that passed.",
  );
});

test("what only files cite that a run leaves to the trials is theirs to show, unless no test cites it", () => {
  const trialCitations = findCitations({ path: "trial.test.ts", code: `${VERIFIES}("a.b.plain");` });
  const evidence = {
    citations: trialCitations,
    passed: new Map(),
    isThere: () => true,
    isLeftOut: (path: string) => path === "trial.test.ts",
  };
  const { onTrial, unshown } = measureCoverage(REQUIREMENTS, evidence);
  expect(onTrial.map(({ id }) => id)).toEqual(["a.b.plain"]);
  expect(unshown.map(({ id }) => id)).toEqual(["a.b.key"]);
  const alsoHere = { ...evidence, citations: [...trialCitations, { id: "a.b.plain", path: "a.test.ts", line: 1 }] };
  expect(measureCoverage(REQUIREMENTS, alsoHere).onTrial).toEqual([]);
});

test("a requirement that is cited waits for nothing any more", () => {
  check(
    `${COMPLETE}\n${VERIFIES}("a.b.later");`,
    null,
    [],
    "a.test.ts:2 cites a.b.later, which specs/requirements.yaml still says to wait for a part\n2 of 2 requirements are cited by tests.",
  );
});

test("a citation of nothing is named with its place", () => {
  check(
    `${COMPLETE}\n${VERIFIES}("a.b.x");`,
    null,
    [],
    "a.test.ts:2 cites a.b.x, which is not in specs/requirements.yaml\n2 of 2 requirements are cited by tests.",
  );
});

test("reports of test runs tell what passed", () => {
  const passed = readPassedCitations([
    report(["passed", "one", ["a.b.plain", "a.b.plain"]], ["failed", "two", ["a.b.key"]]),
    report(["pending", "three", ["a.b.key"]], ["passed", "four", ["a.b.plain"]], ["passed", "five"]),
  ]);
  expect([...passed]).toEqual([["a.b.plain", ["one", "four"]]]);
  expect(listRequirements(REQUIREMENTS, passed)).toBe(
    "a.b.plain\n  Plain.\n  - one\n  - four\n\na.b.key\n  With a key.\n  - (nothing)\n\na.b.later\n  Later.\n  - (waits for: tools)\n",
  );
});

test("of many tests the first few are listed, each title once", () => {
  const titles = ["one", "two", "three", "one", "four", "five", "six", "seven"];
  expect(listRequirements(REQUIREMENTS, new Map([["a.b.plain", titles]]))).toContain(
    "  - one\n  - two\n  - three\n  - four\n  - five\n  - (and 2 more)\n\na.b.key",
  );
});

test("a list with a repeated or broken entry is refused", () => {
  expect(() => parseRequirements(yaml("a.b.c", "a.b.c"))).toThrow("Two requirements have the id a.b.c.");
  expect(() => parseRequirements(yaml("a.b"))).toThrow("Requirement 1 has no id of the form area.topic.behaviour.");
  expect(() => parseRequirements("- id: a.b.c")).toThrow("a.b.c lacks its source or its text.");
  expect(() => parseRequirements("- { id: a.b.c, source: ours, text: T., awaits: 1 }")).toThrow(
    "a.b.c has a broken awaits.",
  );
  expect(() => parseRequirements("{}")).toThrow("The requirements are not a list.");
});

function yaml(...ids: readonly string[]): string {
  return ids.map((id) => `- { id: ${id}, source: ours, section: s, text: T. }`).join("\n");
}

function report(
  ...tests: readonly (readonly [status: string, fullName: string, verifies?: readonly string[]])[]
): string {
  const assertionResults = tests.map(([status, fullName, verifies]) => ({ status, fullName, meta: { verifies } }));
  return JSON.stringify({ testResults: [{ assertionResults }] });
}
