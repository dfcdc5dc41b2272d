import { execFile } from "node:child_process";
import { promisify } from "node:util";

const NOBODY = 65_534;

/**
 * Runs a script of Node as a user without rights, and resolves to what it printed. This process must be root's. Node
 * starts as root, because nobody else may be able to read the folder in which it lies.
 */
export async function runAsNobody(script: string): Promise<string> {
  const code = `process.setgroups([]); process.setgid(${NOBODY}); process.setuid(${NOBODY});\n${script}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", code], { cwd: "/", env: {} });
  return stdout;
}
