/**
 * Prints the settings into .env.example and docs/configuration.md, the metrics into docs/operations.md, and the schema
 * of MODELS_FILE into docs/models.schema.json. `--check`
 * only tells whether they are up to date.
 */

import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { envExample, settingsTable } from "../src/config/describe-settings.ts";
import { modelsFileSchema } from "../src/config/models-file.ts";
import { metricsTable } from "../src/telemetry/metric-table.ts";

const SETTINGS = { what: "settings", source: "src/config/settings.ts" };
const METRICS = { what: "metrics", source: "src/telemetry/metric-table.ts" };

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
const documents = [
  {
    file: "docs/models.schema.json",
    text: `${JSON.stringify(modelsFileSchema(), null, 2)}\n`,
    source: "src/config/models-file.ts",
  },
  { file: ".env.example", text: envExample(), source: SETTINGS.source },
  {
    file: "docs/configuration.md",
    text: await putInto("docs/configuration.md", settingsTable(), SETTINGS),
    source: SETTINGS.source,
  },
  {
    file: "docs/operations.md",
    text: await putInto("docs/operations.md", metricsTable(), METRICS),
    source: METRICS.source,
  },
];

for (const { file, text, source } of documents) {
  if (text === (await readFile(file, "utf8").catch(() => null))) continue;
  if (values.check) {
    console.log(`${file} is not what ${source} gives. Run: node scripts/config-docs.ts`);
    process.exitCode = 1;
  } else {
    await writeFile(file, text);
    console.log(`${file} is written anew.`);
  }
}

/** Replaces the table between two marker comments of the document. */
async function putInto(
  file: string,
  table: string,
  { what, source }: { readonly what: string; readonly source: string },
): Promise<string> {
  const document = await readFile(file, "utf8");
  const opening = `<!-- ${what}: printed from ${source} by scripts/config-docs.ts -->`;
  const begin = document.indexOf(opening);
  const end = document.indexOf(`<!-- end of ${what} -->`);
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for the ${what}: ${opening} …`);
  return `${document.slice(0, begin + opening.length)}\n\n${table}\n${document.slice(end)}`;
}
