import { readFileSync } from "node:fs";
import { isRecord } from "../base/json/records.ts";

/** The version in package.json. */
export function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return isRecord(manifest) && typeof manifest["version"] === "string" ? manifest["version"] : "unknown";
}
