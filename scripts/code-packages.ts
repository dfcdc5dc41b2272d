/** Fills a folder for CODE_PACKAGES_DIR: node scripts/code-packages.ts FOLDER PACKAGE… */

import { createRequire } from "node:module";
import { exit } from "node:process";
import { fetchCodePackages, readPyodideLock } from "./fetch-code-packages.ts";

const { version }: { readonly version: string } = createRequire(import.meta.url)("pyodide/package.json");
const [, , folder, ...names] = process.argv;

if (folder === undefined || names.length === 0) {
  console.error(
    "Name a folder and packages, such as: make code-packages ARGS='./code-packages numpy pandas matplotlib'",
  );
  exit(1);
}
const from = process.env["CODE_PACKAGES_FROM"] ?? `https://cdn.jsdelivr.net/pyodide/v${version}/full/`;
const fetched = await fetchCodePackages({ lock: await readPyodideLock(), names, from, folder });
console.log(`${folder} has ${fetched.join(", ")}.`);
