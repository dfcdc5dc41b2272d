import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BreakingChange, findBreakingChanges } from "./breaking-changes.fixture.ts";
import { filesOfRelease, findRelease } from "./release.fixture.ts";
import { readSpecs, type SpecFiles } from "./specs.fixture.ts";

export interface Comparison {
  /** One line that says what was compared, or why nothing was. */
  readonly summary: string;
  readonly isSkipped: boolean;
  /** Lines that a page in docs/decisions/ must contain, each followed by the affected operations. */
  readonly missing: readonly string[];
  /** Lines of new pages in docs/decisions/ that announce no real breaking change. */
  readonly unneeded: readonly string[];
}

const SPECS = "specs";
const DECISIONS = "docs/decisions";

/** Compares `specs/` with those of the last release. Breaks announced by pages added since then are allowed. */
export function compareWithRelease(root: string): Comparison {
  const release = findRelease(root);
  if (release.tag === null) {
    const summary = `Compatibility: nothing was compared: ${release.reason}`;
    return { summary, isSkipped: true, missing: [], unneeded: [] };
  }
  const before = readSpecs(filesOfRelease(root, release.tag, SPECS));
  const changes = findBreakingChanges(before, readSpecs(presentFiles(root, SPECS)));
  const old = filesOfRelease(root, release.tag, DECISIONS);
  const pages = [...presentFiles(root, DECISIONS)].filter(([path]) => !old.has(path));
  const entries = pages.flatMap(([path, text]) => breaksOf(text).map((entry) => ({ path, entry })));
  const broken = new Set(changes.map(({ entry }) => entry));
  const announced = new Set(entries.map(({ entry }) => entry));
  return {
    summary: `Compatibility: ${changes.length} breaking changes since ${release.tag}, ${announced.size} announced`,
    isSkipped: false,
    missing: changes.filter(({ entry }) => !announced.has(entry)).map(lineOf),
    unneeded: entries
      .filter(({ entry }) => !broken.has(entry))
      .map(({ path, entry }) => `${DECISIONS}/${path}: ${entry}`),
  };
}

function presentFiles(root: string, folder: string): SpecFiles {
  const paths = globSync("**/*.{yaml,md}", { cwd: join(root, folder) });
  return new Map(paths.toSorted().map((path) => [path, readFileSync(join(root, folder, path), "utf8")]));
}

function lineOf({ entry, operations }: BreakingChange): string {
  return `- \`${entry}\` (${operations.join(", ")})`;
}

/**
 * Returns the entries of a page: list items that begin with code, from the line `**Breaks.**` to the next bold heading.
 */
export function breaksOf(page: string): string[] {
  const [, section = ""] = /^\*\*Breaks\.\*\*([^]*?)(?=^\*\*|^#|(?![^]))/m.exec(page) ?? [];
  return [...section.matchAll(/^- `(.+?)`/gm)].map(([, entry = ""]) => entry);
}
