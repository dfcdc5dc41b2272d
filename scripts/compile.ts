import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
/** A thread or a child process; the compiler renames only what is imported. */
const STARTED_MODULE = /(new URL\(\s*"\.[^"]*)\.ts("\s*,\s*import\.meta\.url)/g;
/** A file of another workspace, by the name of its package. */
const WORKSPACE_FILE = /(?<=["'])@antiphon\/([\w-]+)\/([\w./-]+)(?=["'])/g;

/**
 * Compiles a project into a folder with the folders of the clone. There are no workspaces where a package is installed,
 * so a name of a workspace becomes the relative path of its file.
 */
export function compileProject(project: string, outDir: string): void {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", project, "--outDir", outDir];
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) throw new Error(`tsc -p ${project} failed.`, { cause: error });
  for (const path of globSync("**/*.{js,d.ts}", { cwd: outDir })) rewriteModule(outDir, path);
}

function rewriteModule(outDir: string, path: string): void {
  const file = join(outDir, path);
  const code = readFileSync(file, "utf8");
  const rewritten = withRelativePaths(code, path).replaceAll(STARTED_MODULE, "$1.js$2");
  if (rewritten !== code) writeFileSync(file, rewritten);
}

/** The code of a module at this path, from the clone's root, that names files of workspaces by relative paths. */
export function withRelativePaths(code: string, path: string): string {
  return code.replaceAll(WORKSPACE_FILE, (_, name: string, file: string) => {
    const folder = name === "contracts" ? "generated" : `packages/${name}/src`;
    const to = relative(dirname(path), join(folder, file.replace(/(?<!\.d)\.ts$/, ".js")));
    return to.startsWith(".") ? to : `./${to}`;
  });
}
