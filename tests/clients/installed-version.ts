import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";

const ROOT = resolve(import.meta.dirname, "../..");
const Manifest = z.object({ version: z.string() });

/** Version of a package installed in a folder's `node_modules`, such as `7.57.0`. */
export function installedVersion(name: string, folder = ROOT): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
  return Manifest.parse(manifest).version;
}
