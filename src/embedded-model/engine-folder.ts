import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

/** The engine that `antiphon pull` fetches. */
export const ENGINE_PACKAGE = "node-llama-cpp";
export const ENGINE_VERSION = "3.22.1";

/** The package with the engine's binaries for a platform; null if there is none. */
export function platformPackage({
  platform,
  arch,
}: {
  readonly platform: string;
  readonly arch: string;
} = process): string | null {
  const name = `${platform}-${arch}`;
  return PLATFORMS.has(name) ? `@node-llama-cpp/${PLATFORMS.get(name)}` : null;
}

/** By Node's names of the platform and its processor. */
const PLATFORMS: ReadonlyMap<string, string> = new Map([
  ["linux-x64", "linux-x64"],
  ["linux-arm64", "linux-arm64"],
]);

export type EngineState = "ready" | "absent" | "other version";

/** Whether a folder holds the engine, in the version that this program was tried with, for this platform. */
export function engineState(folder: string): EngineState {
  const platform = platformPackage();
  if (platform === null) return "absent";
  const versions = [ENGINE_PACKAGE, platform].map((name) => packageVersion(join(folder, "node_modules", name)));
  if (versions.includes(null)) return "absent";
  return versions.every((version) => version === ENGINE_VERSION) ? "ready" : "other version";
}

function packageVersion(folder: string): string | null {
  const manifest = jsonOrUndefined(readIfThere(join(folder, "package.json")));
  return isRecord(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : null;
}

/** The text of a file; empty if there is none. */
export function readIfThere(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "utf8") : "";
}
