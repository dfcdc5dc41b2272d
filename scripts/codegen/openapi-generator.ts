import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Contract, header } from "./contracts.ts";
import { runGenerator } from "./generator-jar.ts";
import type { JsonObject } from "./json.ts";
import { skeletonOf } from "./skeleton.ts";

export interface GeneratedOperations {
  readonly operations: string;
  readonly client: string;
}

/** Generates operations.ts and client.ts, with @openapitools/openapi-generator-cli and templates/openapi. */
export async function generateOperations(
  document: JsonObject,
  contract: Contract,
  workFolder: string,
): Promise<GeneratedOperations> {
  const input = join(workFolder, "skeleton.json");
  const output = join(workFolder, "openapi-generator");
  await writeFile(input, JSON.stringify(skeletonOf(document, contract)));
  const options = ["-g", "typescript-fetch", "-t", "templates/openapi", "-c", "templates/openapi/config.json"];
  await runGenerator(["generate", ...options, "-i", input, "-o", output]);
  const read = async (suffix: string) =>
    header(contract.openapi) + (await readFile(join(output, "apis", `${contract.name}Api${suffix}`), "utf8"));
  return { operations: await read(".ts"), client: await read(".client.ts") };
}
