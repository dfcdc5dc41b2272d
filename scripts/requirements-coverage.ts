/**
 * Fails if a requirement of specs/requirements.yaml is cited by no test. With JSON reports of test runs as arguments,
 * it also fails if no passed test cites it. `--report=<file>` lists each requirement with its tests.
 */

import { existsSync } from "node:fs";
import { glob, readFile, writeFile } from "node:fs/promises";
import { delimiter, join, matchesGlob } from "node:path";
import { parseArgs } from "node:util";
import { isShort, TRIALS } from "../tests/trials.ts";
import { readPassedCitations } from "./passed-citations.ts";
import { parseRequirements, type Requirement } from "./requirements.ts";

export interface TestFile {
  readonly path: string;
  readonly code: string;
}

export interface Citation {
  readonly id: string;
  readonly path: string;
  readonly line: number;
}

export interface Evidence {
  readonly citations: readonly Citation[];
  /** Titles of passed tests by id; null if no reports were given. */
  readonly passed: ReadonlyMap<string, readonly string[]> | null;
  /** Whether an environment variable or a program that tests need exists. */
  readonly isThere: (need: string) => boolean;
  /** Whether this run leaves a test file to `make trials`. */
  readonly isLeftOut: (path: string) => boolean;
}

export interface Coverage {
  readonly shown: readonly Requirement[];
  /** Requirements without a citation, or cited only by tests that did not run or pass. */
  readonly unshown: readonly Requirement[];
  /** Requirements cited by tests that are skipped because something they need is missing. */
  readonly excused: readonly Requirement[];
  /** Requirements cited only by files that this run leaves to `make trials`. */
  readonly onTrial: readonly Requirement[];
  readonly awaiting: readonly Requirement[];
  /** Citations of requirements that are marked as waiting for a part of the server. */
  readonly stale: readonly Citation[];
  /** Citations of unknown ids: typing errors, or requirements that were removed. */
  readonly unknown: readonly Citation[];
}

const REQUIREMENTS_FILE = "specs/requirements.yaml";
const TEST_FILES = "{src,packages,tests,contract-tests,scripts,web}/**/*.test.ts";

/** A table of cases can produce hundreds of tests. */
const LISTED_TESTS_MAX = 5;

/** Other names of a program. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = { chromium: ["chromium-browser", "google-chrome"] };

/** The leading string arguments of a call of `verifies`. */
const CALL = /\bverifies\(\s*((?:(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)\s*,?\s*)+)/g;
const STRING = /"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`/g;

export function measureCoverage(requirements: readonly Requirement[], evidence: Evidence): Coverage {
  const { citations, passed } = evidence;
  const cited = new Set(citations.map(({ id }) => id));
  const known = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  const built = requirements.filter(({ awaits }) => awaits === null);
  const isShown = ({ id }: Requirement): boolean => cited.has(id) && (passed?.has(id) ?? true);
  const isExcused = ({ id, needs }: Requirement): boolean =>
    cited.has(id) && !needs.every((need) => evidence.isThere(need));
  const citedInRun = new Set(citations.filter(({ path }) => !evidence.isLeftOut(path)).map(({ id }) => id));
  const missing = built.filter((requirement) => !isShown(requirement));
  const [unexcused, excused] = partition(missing, isExcused);
  const [unshown, onTrial] = partition(unexcused, ({ id }) => cited.has(id) && !citedInRun.has(id));
  return {
    shown: built.filter(isShown),
    unshown,
    excused,
    onTrial,
    awaiting: requirements.filter(({ awaits }) => awaits !== null),
    stale: citations.filter(({ id }) => (known.get(id)?.awaits ?? null) !== null),
    unknown: citations.filter(({ id }) => !known.has(id)),
  };
}

/** The items that do not match, and those that do. */
function partition<Item>(items: readonly Item[], matches: (item: Item) => boolean): readonly [Item[], Item[]] {
  return [items.filter((item) => !matches(item)), items.filter(matches)];
}

/** All ids cited in one file, in order. Strings with white space are not ids. */
export function findCitations({ path, code }: TestFile): Citation[] {
  return [...code.matchAll(CALL)].flatMap((call) =>
    [...(call[1] ?? "").matchAll(STRING)]
      .map((string) => string[1] ?? string[2] ?? string[3] ?? "")
      .filter((text) => !/\s/.test(text))
      .map((id) => ({ id, path, line: code.slice(0, call.index).split("\n").length })),
  );
}

export function isComplete({ unshown, stale, unknown }: Coverage): boolean {
  return unshown.length + stale.length + unknown.length === 0;
}

/** All faults, one per line, then a short summary. */
export function describeCoverage(coverage: Coverage, { citations, passed }: Evidence): string {
  const { shown, unshown, excused, onTrial, awaiting, stale, unknown } = coverage;
  const placeOf = ({ path, line, id }: Citation): string => `${path}:${line} cites ${id}`;
  const citing = (id: string): string => {
    const places = citations.filter((citation) => citation.id === id).map(({ path, line }) => `${path}:${line}`);
    return places.length === 0 ? "cited by no test" : `cited by no test that passed (${places.join(", ")})`;
  };
  const total = shown.length + unshown.length + excused.length + onTrial.length;
  const parts = Map.groupBy(awaiting, ({ awaits }) => awaits);
  return [
    ...unknown.map((citation) => `${placeOf(citation)}, which is not in ${REQUIREMENTS_FILE}`),
    ...stale.map((citation) => `${placeOf(citation)}, which ${REQUIREMENTS_FILE} still says to wait for a part`),
    ...unshown.map(({ id, text }) => `${id} is ${citing(id)}: ${text}`),
    ...excused.map(({ id, needs }) => `${id} is not shown here: its tests need ${needs.join(" and ")}.`),
    `${shown.length} of ${total} requirements are ${passed === null ? "cited by tests" : "shown by tests that passed"}.`,
    ...(onTrial.length === 0
      ? []
      : [`${onTrial.length} are shown by make trials: ${onTrial.map(({ id }) => id).join(", ")}.`]),
    ...[...parts].map(([part, { length }]) => `${length} wait for a part that is not built: ${part}.`),
  ].join("\n");
}

/** Lists each requirement with the titles of its first tests. */
export function listRequirements(requirements: readonly Requirement[], passed: Evidence["passed"]): string {
  return requirements
    .map(({ id, text, awaits }) => {
      const tests = awaits === null ? titlesOf(passed?.get(id) ?? []) : [`(waits for: ${awaits})`];
      return `${id}\n  ${text}\n${tests.map((test) => `  - ${test}\n`).join("")}`;
    })
    .join("\n");
}

function titlesOf(tests: readonly string[]): readonly string[] {
  const titles = [...new Set(tests)];
  if (titles.length === 0) return ["(nothing)"];
  const others = titles.length - LISTED_TESTS_MAX;
  return others > 0 ? [...titles.slice(0, LISTED_TESTS_MAX), `(and ${others} more)`] : titles;
}

/** Upper case names an environment variable, lower case a program. */
function isThere(need: string): boolean {
  if (/^[A-Z]/.test(need)) return (process.env[need] ?? "") !== "";
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return [need, ...(OTHER_NAMES[need] ?? [])].some((name) => folders.some((folder) => existsSync(join(folder, name))));
}

async function readTestFiles(): Promise<TestFile[]> {
  const paths: string[] = [];
  for await (const path of glob(TEST_FILES, { exclude: ["**/node_modules/**"] })) paths.push(path);
  paths.sort();
  return Promise.all(paths.map(async (path) => ({ path, code: await readFile(path, "utf8") })));
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { report: { type: "string" } }, allowPositionals: true });
  process.chdir(new URL("..", import.meta.url).pathname);
  const requirements = parseRequirements(await readFile(REQUIREMENTS_FILE, "utf8"));
  const missing = positionals.filter((file) => !existsSync(file));
  if (missing.length > 0) return fail(`There is no report of a test run in ${missing.join(" and ")}.`);
  const reports = await Promise.all(positionals.map((file) => readFile(file, "utf8")));
  const evidence: Evidence = {
    citations: (await readTestFiles()).flatMap(findCitations),
    passed: reports.length === 0 ? null : readPassedCitations(reports),
    isThere,
    isLeftOut: (path) => isShort && TRIALS.some((pattern) => matchesGlob(path, pattern)),
  };
  const coverage = measureCoverage(requirements, evidence);
  if (values.report !== undefined) await writeFile(values.report, listRequirements(requirements, evidence.passed));
  const description = describeCoverage(coverage, evidence);
  if (isComplete(coverage)) console.log(description);
  else fail(description);
}

function fail(words: string): void {
  console.log(words);
  process.exitCode = 1;
}

if (import.meta.main) await main();
