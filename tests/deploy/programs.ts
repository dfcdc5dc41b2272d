import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of a program; undefined where it is not installed. */
export function programPath(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** For the title of tests that need programs: which are not there, or nothing. */
export function whySkipped(...names: readonly string[]): string {
  const missing = names.filter((name) => programPath(name) === undefined);
  return missing.length === 0 ? "" : ` (skipped: there is no ${missing.join(" or ")})`;
}
