/** Prints the table of settings into .env.example and README.md. `--check` only tells whether they are what the table gives. */

import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { envExample, settingsTable } from "../src/config/describe-settings.ts";

const BEGIN = "<!-- settings: printed from src/config/settings.ts by scripts/config-docs.ts -->";
const END = "<!-- end of settings -->";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const readme = await readFile("README.md", "utf8");
const documents = [
  { file: ".env.example", text: envExample() },
  { file: "README.md", text: putBetween(readme, settingsTable()) },
];

for (const { file, text } of documents) {
  if (text === (await readFile(file, "utf8").catch(() => null))) continue;
  if (values.check) {
    console.log(`${file} is not what src/config/settings.ts gives. Run: node scripts/config-docs.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(file, text);
    console.log(`${file} is written anew.`);
  }
}

function putBetween(document: string, table: string): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`README.md has no place for the settings: ${BEGIN} … ${END}`);
  return `${document.slice(0, begin + BEGIN.length)}\n\n${table}\n${document.slice(end)}`;
}
