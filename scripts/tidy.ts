/** Checks every tracked or untracked file that git does not ignore against the tidy rules. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { TIDY_RULES } from "./tidy-rules.ts";
import { TREE_RULES } from "./tree-rules.ts";

const LISTING_BYTES_MAX = 64 * 1024 * 1024;
const SHOWN_MAX = 20;

const listing = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
  maxBuffer: LISTING_BYTES_MAX,
});
const paths = new Set(listing.split("\n").filter((path) => path !== "" && existsSync(path)));
const files = [...paths].map((path) => ({ path, text: readFileSync(path, "utf8") }));

for (const { name, sentence, files: applies, except, find } of TIDY_RULES) {
  const fitting = files.filter(({ path }) => applies.test(path) && except?.test(path) !== true);
  report(
    `${name}: ${sentence}`,
    fitting.flatMap((file) => find(file, paths)),
  );
}
for (const { name, sentence, find } of TREE_RULES) report(`${name}: ${sentence}`, find(files));

function report(rule: string, found: readonly string[]): void {
  if (found.length === 0) return;
  console.log(rule);
  for (const what of found.slice(0, SHOWN_MAX)) console.log(`  ${what}`);
  if (found.length > SHOWN_MAX) console.log(`  and ${found.length - SHOWN_MAX} more`);
  process.exitCode = 1;
}
