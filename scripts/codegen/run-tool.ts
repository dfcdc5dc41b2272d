import { spawn } from "node:child_process";

/** Runs a tool and waits for it. Prints its output only if it fails. */
export async function runTool(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")} exited with ${status}:\n${Buffer.concat(said).toString("utf8")}`);
}
