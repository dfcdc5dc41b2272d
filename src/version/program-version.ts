import { readFileSync } from "node:fs";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

/** The version in package.json. */
export function programVersion(): string {
  const manifest = readJson(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return isRecord(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "unknown";
}
