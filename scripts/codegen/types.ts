import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codegenFolder, header } from "./contracts.ts";
import type { JsonObject } from "./json.ts";
import { runTool } from "./run-tool.ts";

/** Generates types.ts: each schema under its own name, and `paths` and `operations` with their parameters. */
export async function generateTypes(
  document: JsonObject,
  specs: readonly string[],
  workFolder: string,
): Promise<string> {
  const input = join(workFolder, "document.json");
  const output = join(workFolder, "types.ts");
  await writeFile(input, JSON.stringify(document));
  const cli = join(codegenFolder, "node_modules/openapi-typescript/bin/cli.js");
  const names = ["--root-types", "--root-types-no-schema-prefix", "--root-types-keep-casing"];
  // A member with a default stays optional; the default only documents what the server assumes.
  const presence = ["--default-non-nullable=false"];
  const cwd = workFolder; // A folder without redocly.yaml; otherwise the tool would lint our document.
  await runTool(process.execPath, [cli, input, "--output", output, ...names, ...presence], { cwd });
  return header(...specs) + withoutBanner(await readFile(output, "utf8"));
}

function withoutBanner(text: string): string {
  return text.replace(/^\/\*\*[\s\S]*?\*\/\n+/, "");
}
