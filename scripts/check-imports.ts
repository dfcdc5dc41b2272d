/** Checks every import against the rules of ARCHITECTURE.md. Prints each broken rule. */

import { glob, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { findImportFaults, type Workspace } from "./find-import-faults.ts";
import { readModule } from "./import-graph.ts";

const SOURCES = ["{src,packages,generated,tests,contract-tests,scripts,web}/**/*.{ts,tsx,js}"];
interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const SHOWN_MAX = 20;
const EXCLUDED = ["**/node_modules/**", "**/templates/**", "**/dist/**", "generated/docs/**"];

const modules = [];
for await (const path of glob(SOURCES, { exclude: EXCLUDED })) {
  modules.push(readModule({ path, code: await readFile(path, "utf8") }));
}
modules.sort((one, other) => one.path.localeCompare(other.path));

const dependencies = Object.keys((await readManifest("package.json")).dependencies ?? {});
const faults = findImportFaults({ modules, dependencies, workspaces: await readWorkspaces() });
for (const [rule, broken] of Map.groupBy(faults, (fault) => fault.rule)) {
  console.log(`${rule}: ${broken[0]?.sentence ?? ""}`);
  for (const { what } of broken.slice(0, SHOWN_MAX)) console.log(`  ${what}`);
  if (broken.length > SHOWN_MAX) console.log(`  and ${broken.length - SHOWN_MAX} more`);
}
if (faults.length > 0) process.exitCode = 1;

async function readWorkspaces(): Promise<Workspace[]> {
  const workspaces: Workspace[] = [];
  for await (const path of glob("packages/*/package.json")) {
    const manifest = await readManifest(path);
    workspaces.push({
      folder: dirname(path),
      dependencies: Object.keys(manifest.dependencies ?? {}),
      devDependencies: Object.keys(manifest.devDependencies ?? {}),
    });
  }
  return workspaces;
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, "utf8"));
}
