import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const CACHE = join(import.meta.dirname, "../../.cache/mcp-servers");
const NPM_PACKAGES = [
  "@modelcontextprotocol/server-everything@2026.8.31",
  "@modelcontextprotocol/server-filesystem@2026.8.31",
  "@modelcontextprotocol/server-memory@2026.8.31",
  "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
  "@playwright/mcp@0.0.83",
];
const PYPI_PACKAGES = ["mcp-server-fetch==2026.10.24", "mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"];
/** This server is no longer maintained, and ends at once with a newer library. */
const OLDER_PYPI_PACKAGES = ["mcp-server-sqlite==2025.4.25", "mcp<2"];

/** The path of a file of a package of npm. Installs all of them the first time. */
export function npmFile(path: string): string {
  const folder = join(CACHE, "npm");
  if (!existsSync(join(folder, "ready"))) {
    mkdirSync(folder, { recursive: true });
    const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...flags, "--prefix", folder, ...NPM_PACKAGES], { cwd: folder, stdio: "inherit" });
    mkdirSync(join(folder, "ready"));
  }
  return join(folder, "node_modules", path);
}

/** The path of a program of a package of PyPI. Installs all of them the first time. Throws without python3 and venv. */
export function pythonProgram(name: string): string {
  return programIn(join(CACHE, "venv"), PYPI_PACKAGES, name);
}

/** As `pythonProgram`, of a package that needs an older library. */
export function olderPythonProgram(name: string): string {
  return programIn(join(CACHE, "venv-older"), OLDER_PYPI_PACKAGES, name);
}

function programIn(folder: string, packages: readonly string[], name: string): string {
  if (!existsSync(join(folder, "ready"))) {
    execFileSync("python3", ["-m", "venv", folder], { stdio: "inherit" });
    const flags = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    execFileSync(join(folder, "bin/python"), [...flags, ...packages], { stdio: "inherit" });
    mkdirSync(join(folder, "ready"));
  }
  return join(folder, "bin", name);
}
