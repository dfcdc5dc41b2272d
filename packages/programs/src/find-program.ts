import { accessSync, constants } from "node:fs";
import { delimiter, resolve } from "node:path";
import { inheritedEnvironment } from "./inherited-environment.ts";

/** The path of a program; null if there is none. A name with a slash is a path, and others are looked up on PATH. */
export function findProgram(program: string): string | null {
  const places = program.includes("/")
    ? [resolve(program)]
    : (inheritedEnvironment()["PATH"] ?? "").split(delimiter).map((folder) => resolve(folder, program));
  return places.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Names of packages for each installer; those without an entry have the names that Debian gives them. */
type PackageNames = { readonly apt: string } & { readonly [installer in "dnf" | "apk" | "pacman" | "brew"]?: string };

const INSTALLERS = [
  { program: "apt-get", names: "apt", command: "sudo apt-get install -y" },
  { program: "dnf", names: "dnf", command: "sudo dnf install -y" },
  { program: "apk", names: "apk", command: "sudo apk add" },
  { program: "pacman", names: "pacman", command: "sudo pacman -S" },
  { program: "brew", names: "brew", command: "brew install" },
] as const;

/** The one command that installs packages on this machine. */
export function installCommand(packages: PackageNames): string {
  const installer = INSTALLERS.find(({ program }) => findProgram(program) !== null);
  if (installer === undefined) return `install ${packages.apt}`;
  const isRoot = process.getuid?.() === 0;
  const command = isRoot ? installer.command.replace("sudo ", "") : installer.command;
  return `${command} ${packages[installer.names] ?? packages.apt}`;
}
