import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { codegenFolder, repository } from "./contracts.ts";
import { runTool } from "./run-tool.ts";

/** The same version as in openapitools.json. */
const VERSION = "7.0.0";
const SHA256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";
const FOLDER = join(repository, ".cache/openapi-generator");

/**
 * Why the OpenAPI generator cannot run here, or null if it can: the jar is in place, fetched if need be, and Java is
 * installed.
 */
export async function generatorHindrance(): Promise<string | null> {
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
  assertGenuine(readFileSync(jar), jar);
  return null;
}

/** Another file under this name is no hindrance to be skipped but something to be looked at. */
function assertGenuine(bytes: Buffer, where: string): void {
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (hash !== SHA256) throw new Error(`${where} has the sha256 ${hash}, not ${SHA256}; it is refused`);
}

/** By the generator's own command, which knows where its versions are published. Gives the reason if it cannot. */
async function fetchJar(jar: string): Promise<string | null> {
  mkdirSync(FOLDER, { recursive: true });
  try {
    await runGenerator(["version-manager", "set", VERSION]);
  } catch (error) {
    return `version ${VERSION} of the generator cannot be fetched (${error instanceof Error ? firstLine(error.message) : String(error)})`;
  }
  return existsSync(jar) ? null : `version ${VERSION} of the generator could not be fetched`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}

/**
 * Runs the generator's command. It takes PWD, not its working folder, for the place of openapitools.json, which pins
 * the jar.
 */
export async function runGenerator(args: readonly string[]): Promise<void> {
  const cli = join(codegenFolder, "node_modules/@openapitools/openapi-generator-cli/main.js");
  await runTool(process.execPath, [cli, ...args], { cwd: codegenFolder, env: { ...process.env, PWD: codegenFolder } });
}
