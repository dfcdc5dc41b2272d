import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const INSTALLED = join(import.meta.dirname, "../node_modules");
const WORKSPACES = "@antiphon";

/** Gives a copy of this tree the packages that are installed here, by links; its workspaces are its own. */
export function linkInstalled(folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, WORKSPACES), { recursive: true });
  for (const name of readdirSync(INSTALLED))
    if (name !== WORKSPACES) symlinkSync(join(INSTALLED, name), join(modules, name));
  for (const name of readdirSync(join(folder, "packages")))
    symlinkSync(join("../../packages", name), join(modules, WORKSPACES, name));
  symlinkSync("../../generated", join(modules, WORKSPACES, "contracts"));
}
