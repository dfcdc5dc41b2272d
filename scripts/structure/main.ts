/** Prints what is measured of the structure, beside an earlier commit: `make structure ARGS="--base COMMIT"`. */

import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { checkOut } from "../check-out.ts";
import type { SourceFile } from "../import-graph.ts";
import { type Measure, measureStructure } from "./measures.ts";

const ROOT = join(import.meta.dirname, "../..");
const SOURCES = "{src,packages,tests,contract-tests}/**/*.{ts,tsx}";
const PACTS = "contract-tests/pacts/*.json";
const EXCLUDED = ["**/node_modules/**", "**/dist/**"];

const { values } = parseArgs({ options: { base: { type: "string", default: "cd2962a6" } } });
const now = await measure(ROOT);
const before = await measureCommit(values.base);
const width = Math.max(...now.map(({ title }) => title.length));
console.log(`${"".padEnd(width)}  ${values.base.padEnd(44)}now`);
for (const [index, { title, value }] of now.entries())
  console.log(`${title.padEnd(width)}  ${(before?.[index]?.value ?? "unknown here").padEnd(44)}${value}`);

async function measure(root: string): Promise<readonly Measure[]> {
  const files: SourceFile[] = [];
  for (const path of await pathsIn(root, SOURCES)) files.push({ path, code: await readFile(join(root, path), "utf8") });
  const pacts = await pathsIn(root, PACTS);
  return measureStructure(files, await Promise.all(pacts.map((path) => readFile(join(root, path), "utf8"))));
}

async function pathsIn(root: string, pattern: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const path of glob(pattern, { cwd: root, exclude: EXCLUDED }))
    paths.push(relative(root, join(root, path)));
  return paths.toSorted();
}

/** Null where the commit is not there, such as in a clone without history. */
async function measureCommit(commit: string): Promise<readonly Measure[] | null> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-structure-"));
  try {
    checkOut(commit, folder);
    return await measure(folder);
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
