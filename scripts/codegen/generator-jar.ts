import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codegenFolder, repository } from "./contracts.ts";
import { runTool } from "./run-tool.ts";

/** The same version as in openapitools.json. */
const VERSION = "7.0.0";
const SHA256 = "80e8e9d71bdbdf513b8c65cf7d3fc2fe3d88aaeb4e39a2c6e20831f00032c775";
const URL_OF_JAR = `https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/${VERSION}/openapi-generator-cli-${VERSION}.jar`;
const FOLDER = join(repository, ".cache/openapi-generator");
const FETCH_TIMEOUT_MS = 120_000;

/** Why the OpenAPI generator cannot run here, or null if it can: the jar is in place, fetched if need be, and Java is installed. */
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

async function fetchJar(jar: string): Promise<string | null> {
  const bytes = await download();
  if (typeof bytes === "string") return bytes;
  assertGenuine(bytes, URL_OF_JAR);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${jar}.part`, bytes);
  renameSync(`${jar}.part`, jar);
  return null;
}

async function download(): Promise<Buffer | string> {
  try {
    const reply = await fetch(URL_OF_JAR, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    return reply.ok ? Buffer.from(await reply.arrayBuffer()) : `${URL_OF_JAR} answers ${reply.status}`;
  } catch (error) {
    return `${URL_OF_JAR} cannot be fetched (${error instanceof Error ? error.message : String(error)})`;
  }
}
