/**
 * Compiles the server and its client for the packages that `npm pack` makes: Node strips no types below node_modules.
 * dist/server has the folders of the clone, so that every file finds the others where it expects them, and the pages
 * that were built before. Usage: node scripts/build-package.ts [FOLDER], a new folder that gets all that is packed.
 */

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

const ROOT = resolve(import.meta.dirname, "..");
const FOLDER = resolve(process.argv[2] ?? ROOT);
const SERVER = join(FOLDER, "dist/server");
const CLIENT = join(FOLDER, "packages/client/dist");
const PAGES = ["dist/chat-lab", "dist/inspector"];
/** What the server reads beside its modules. */
const READ_FILES = "{src,generated,assets}/**/*.{js,json,html,py,h,cmake,txt,gz}";
/** What is packed as it stands in the clone. */
const PACKED_AS_THEY_ARE = ["package.json", "bin", "CHANGELOG.md", "LICENSE", "README.md"];
const CLIENT_FILES = ["package.json", "LICENSE", "README.md"].map((name) => `packages/client/${name}`);
/** A thread or a child process; the compiler renames only what is imported. */
const STARTED_MODULE = /(new URL\(\s*"\.[^"]*)\.ts("\s*,\s*import\.meta\.url)/g;

for (const folder of [SERVER, CLIENT]) rmSync(folder, { recursive: true, force: true });
compile("tsconfig.client.json", CLIENT);
compile("tsconfig.server.json", SERVER);
for (const path of globSync(READ_FILES, { cwd: ROOT })) copy(path, SERVER);
for (const page of PAGES) if (existsSync(join(ROOT, page))) copy(page, SERVER);
for (const path of globSync("src/**/*.js", { cwd: SERVER })) renameStarted(join(SERVER, path));
writeManifest();
if (FOLDER !== ROOT) for (const path of [...PACKED_AS_THEY_ARE, ...CLIENT_FILES]) copy(path, FOLDER);

function compile(project: string, outDir: string): void {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", project, "--outDir", outDir];
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) throw new Error(`tsc -p ${project} failed.`, { cause: error });
}

function copy(path: string, folder: string): void {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(ROOT, path), target, { recursive: true });
}

function renameStarted(file: string): void {
  const code = readFileSync(file, "utf8");
  if (code.includes("import.meta.url")) writeFileSync(file, code.replaceAll(STARTED_MODULE, "$1.js$2"));
}

/** The server tells its version from this file, and Node that the files below are modules. */
function writeManifest(): void {
  const manifest = readJson(readFileSync(join(ROOT, "package.json"), "utf8"));
  if (!isRecord(manifest)) throw new Error("package.json is no object.");
  const { name, version, type } = manifest;
  writeFileSync(join(SERVER, "package.json"), `${JSON.stringify({ name, version, type, private: true }, null, 2)}\n`);
}
