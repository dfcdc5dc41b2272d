import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../../.cache/durability-azure");
const REQUIREMENTS = join(import.meta.dirname, "requirements.txt");
/** What was installed, written when all of it was. */
const INSTALLED = join(FOLDER, "installed.txt");
const INSTALL_MS_MAX = 300_000;

export type Installation =
  | { readonly type: "installed"; readonly python: string }
  | { readonly type: "missing"; readonly why: string };

/** Installs the library into a virtual environment of its own, unless it is there. */
export function installAzure(): Installation {
  const python = join(FOLDER, "bin/python");
  const wanted = readFileSync(REQUIREMENTS, "utf8");
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, "utf8") === wanted) return { type: "installed", python };
  try {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    run("python3", "-m", "venv", FOLDER);
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS);
    writeFileSync(INSTALLED, wanted);
    return { type: "installed", python };
  } catch (error) {
    return { type: "missing", why: String(error).trim().split("\n").at(-1) ?? "" }; // Warnings come first.
  }
}

function run(program: string, ...parameters: readonly string[]): void {
  execFileSync(program, parameters, { stdio: ["ignore", "ignore", "pipe"], timeout: INSTALL_MS_MAX });
}
