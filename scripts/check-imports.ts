/** Checks every import against the rules of ARCHITECTURE.md. Prints each broken rule. */

import { glob, readFile } from "node:fs/promises";
import { findImportFaults } from "./find-import-faults.ts";
import { readModule } from "./import-graph.ts";

const SOURCES = ["{src,generated,tests,contract-tests,scripts,web}/**/*.{ts,tsx,js}"];
const SHOWN_MAX = 20;
const EXCLUDED = ["**/node_modules/**", "**/templates/**", "generated/docs/**"];

const modules = [];
for await (const path of glob(SOURCES, { exclude: EXCLUDED })) {
  modules.push(readModule({ path, code: await readFile(path, "utf8") }));
}
modules.sort((one, other) => one.path.localeCompare(other.path));

const faults = findImportFaults({ modules, dependencies: await readDependencies() });
for (const [rule, broken] of Map.groupBy(faults, (fault) => fault.rule)) {
  console.log(`${rule}: ${broken[0]?.sentence ?? ""}`);
  for (const { what } of broken.slice(0, SHOWN_MAX)) console.log(`  ${what}`);
  if (broken.length > SHOWN_MAX) console.log(`  and ${broken.length - SHOWN_MAX} more`);
}
if (faults.length > 0) process.exitCode = 1;

async function readDependencies(): Promise<string[]> {
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(await readFile("package.json", "utf8"));
  return Object.keys(manifest.dependencies ?? {});
}
