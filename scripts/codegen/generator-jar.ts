import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codegenFolder, repository } from "./contracts.ts";
import { runTool } from "./run-tool.ts";

/** Must equal the version in openapitools.json. */
const VERSION = "7.0.0";
const SHA256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";
const FOLDER = join(repository, ".cache/openapi-generator");

/** Returns why the OpenAPI generator cannot run here, or null if it can. Downloads the jar if it is missing. */
export async function prepareGenerator(): Promise<string | null> {
  try {
    await runTool("java", ["-version"], { cwd: codegenFolder });
  } catch {
    return "Java is not installed";
  }
  const jar = join(FOLDER, `${VERSION}.jar`);
  if (!existsSync(jar)) {
    const failure = await fetchJar(jar);
    if (failure !== null) return failure;
  }
  assertChecksum(readFileSync(jar), jar);
  return null;
}

/** Throws if the jar has the wrong checksum. A changed file must not pass for a missing one. */
function assertChecksum(bytes: Buffer, where: string): void {
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (hash !== SHA256) throw new Error(`${where} has the SHA-256 ${hash}, expected ${SHA256}`);
}

/** Downloads the jar with the generator's own command. Returns the reason on failure, otherwise null. */
async function fetchJar(jar: string): Promise<string | null> {
  mkdirSync(FOLDER, { recursive: true });
  try {
    await runGenerator(["version-manager", "set", VERSION]);
  } catch (error) {
    return `version ${VERSION} of the generator cannot be downloaded (${error instanceof Error ? firstLine(error.message) : String(error)})`;
  }
  return existsSync(jar) ? null : `version ${VERSION} of the generator was not downloaded`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}

/** Runs the generator's command. The command looks for openapitools.json in PWD, not in its working directory. */
export async function runGenerator(args: readonly string[]): Promise<void> {
  const cli = join(codegenFolder, "node_modules/@openapitools/openapi-generator-cli/main.js");
  await runTool(process.execPath, [cli, ...args], { cwd: codegenFolder, env: { ...process.env, PWD: codegenFolder } });
}
