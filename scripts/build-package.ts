/**
 * Compiles the server and its client for the packages that `npm pack` makes: Node strips no types below node_modules.
 * dist/server has the folders of the clone, so that every file finds the others where it expects them, and the pages
 * that were built before. Usage: node scripts/build-package.ts [FOLDER], a new folder that gets all that is packed.
 */

import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { compileProject } from "./compile.ts";

const ROOT = resolve(import.meta.dirname, "..");
const FOLDER = resolve(process.argv[2] ?? ROOT);
const SERVER = join(FOLDER, "dist/server");
const CLIENT = join(FOLDER, "packages/client/dist");
const PAGES = ["dist/chat-lab", "dist/inspector"];
/** What the server reads beside its modules. */
const READ_FILES = [
  "{src,packages/*/src,generated,assets}/**/*.{js,json,html,py,h,cmake,txt,gz}",
  "packages/*/package.json",
];
/** What is packed as it stands in the clone. */
const PACKED_AS_THEY_ARE = ["package.json", "bin", "CHANGELOG.md", "LICENSE", "README.md"];
const CLIENT_FILES = ["package.json", "LICENSE", "README.md"].map((name) => `packages/client/${name}`);

for (const folder of [SERVER, CLIENT]) rmSync(folder, { recursive: true, force: true });
compileProject("tsconfig.client.json", CLIENT);
compileProject("tsconfig.server.json", SERVER);
for (const path of globSync(READ_FILES, { cwd: ROOT })) copy(path, SERVER);
for (const page of PAGES) if (existsSync(join(ROOT, page))) copy(page, SERVER);
writeManifest();
if (FOLDER !== ROOT) for (const path of [...PACKED_AS_THEY_ARE, ...CLIENT_FILES]) copy(path, FOLDER);

function copy(path: string, folder: string): void {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(ROOT, path), target, { recursive: true });
}

/** The server tells its version from this file, and Node that the files below are modules. */
function writeManifest(): void {
  const manifest = readJson(readFileSync(join(ROOT, "package.json"), "utf8"));
  if (!isRecord(manifest)) throw new Error("package.json is no object.");
  const { name, version, type } = manifest;
  writeFileSync(join(SERVER, "package.json"), `${JSON.stringify({ name, version, type, private: true }, null, 2)}\n`);
}
