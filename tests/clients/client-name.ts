import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";

const ROOT = resolve(import.meta.dirname, "../..");
const Manifest = z.object({ version: z.string() });

/** A client and the version that is installed, such as `openai 7.57.0`; the matrix has one column of results under each. */
export function clientName(name: string, folder = ROOT): string {
  return `${name} ${installedVersion(name, folder)}`;
}

export function installedVersion(name: string, folder = ROOT): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
  return Manifest.parse(manifest).version;
}
