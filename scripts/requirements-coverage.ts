/** Compares specs/requirements.yaml with what the tests cite. `--list` prints what no test cites; `--gate` fails on it. */

import { glob, readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { parse } from "yaml";

export interface Requirement {
  readonly id: string;
  readonly source: string;
  readonly text: string;
}

export interface TestFile {
  readonly path: string;
  readonly code: string;
}

export interface Citation {
  readonly id: string;
  readonly path: string;
  readonly line: number;
}

export interface Coverage {
  readonly cited: readonly Requirement[];
  readonly uncited: readonly Requirement[];
  /** Citations of ids that no requirement has: a typing error, or a promise that was withdrawn. */
  readonly unknown: readonly Citation[];
}

const REQUIREMENTS_FILE = "specs/requirements.yaml";
const TEST_FILES = "{src,tests,contract-tests,scripts}/**/*.test.ts";
const ID = /^[a-z0-9-]+(\.[a-z0-9-]+){2}$/;

/** Leading string arguments of a call of verifies; the first argument that is no string ends them. */
const CALL = /\bverifies\(\s*((?:(?:"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)\s*,?\s*)+)/g;
const STRING = /"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`/g;
const COMMENT = /\/\/\s*verifies:\s*(.+)$/gm;

export function measureCoverage(requirements: readonly Requirement[], files: readonly TestFile[]): Coverage {
  const citations = files.flatMap(findCitations);
  const citedIds = new Set(citations.map((citation) => citation.id));
  const knownIds = new Set(requirements.map((requirement) => requirement.id));
  return {
    cited: requirements.filter((requirement) => citedIds.has(requirement.id)),
    uncited: requirements.filter((requirement) => !citedIds.has(requirement.id)),
    unknown: citations.filter((citation) => !knownIds.has(citation.id)),
  };
}

/** Every id cited in one file, in no particular order. A string with white space is a test's title, not an id. */
export function findCitations({ path, code }: TestFile): Citation[] {
  const cite = (id: string, index: number): Citation => ({ id, path, line: code.slice(0, index).split("\n").length });
  const calls = [...code.matchAll(CALL)].flatMap((call) =>
    [...(call[1] ?? "").matchAll(STRING)]
      .map((string) => string[1] ?? string[2] ?? string[3] ?? "")
      .filter((text) => !/\s/.test(text))
      .map((id) => cite(id, call.index)),
  );
  const comments = [...code.matchAll(COMMENT)].flatMap((comment) =>
    (comment[1] ?? "")
      .split(/[\s,]+/)
      .filter((id) => id !== "")
      .map((id) => cite(id, comment.index)),
  );
  return [...calls, ...comments];
}

/** Reads the list, and refuses one with a broken or repeated entry. */
export function parseRequirements(yaml: string): Requirement[] {
  const entries: unknown = parse(yaml);
  if (!Array.isArray(entries)) throw new Error("The requirements are not a list.");
  const seen = new Set<string>();
  return entries.map((entry: unknown, index) => {
    const requirement = parseRequirement(entry, index);
    if (seen.has(requirement.id)) throw new Error(`Two requirements have the id ${requirement.id}.`);
    seen.add(requirement.id);
    return requirement;
  });
}

function parseRequirement(entry: unknown, index: number): Requirement {
  const place = `Requirement ${index + 1}`;
  if (typeof entry !== "object" || entry === null) throw new Error(`${place} is not an object.`);
  const id = "id" in entry ? entry.id : undefined;
  const source = "source" in entry ? entry.source : undefined;
  const text = "text" in entry ? entry.text : undefined;
  if (typeof id !== "string" || !ID.test(id)) throw new Error(`${place} has no id of the form area.topic.behaviour.`);
  if (typeof source !== "string" || typeof text !== "string") throw new Error(`${id} lacks its source or its text.`);
  return { id, source, text };
}

export function reportCoverage(coverage: Coverage, list: boolean): string {
  const total = coverage.cited.length + coverage.uncited.length;
  const lines = coverage.unknown.map(
    ({ id, path, line }) => `${path}:${line} cites ${id}, which is not in ${REQUIREMENTS_FILE}`,
  );
  if (list) lines.push(...coverage.uncited.map(({ id, text }) => `not cited: ${id}  ${text}`));
  lines.push(
    `${coverage.cited.length} of ${total} requirements are cited by tests, ${coverage.uncited.length} are not.`,
  );
  return lines.join("\n");
}

async function readTestFiles(): Promise<TestFile[]> {
  const paths: string[] = [];
  for await (const path of glob(TEST_FILES, { exclude: ["**/node_modules/**"] })) paths.push(path);
  paths.sort();
  return Promise.all(paths.map(async (path) => ({ path, code: await readFile(path, "utf8") })));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { list: { type: "boolean", default: false }, gate: { type: "boolean", default: false } },
  });
  process.chdir(new URL("..", import.meta.url).pathname);
  const coverage = measureCoverage(parseRequirements(await readFile(REQUIREMENTS_FILE, "utf8")), await readTestFiles());
  console.log(reportCoverage(coverage, values.list));
  if (coverage.unknown.length > 0 || (values.gate && coverage.uncited.length > 0)) process.exitCode = 1;
}

if (import.meta.main) await main();
