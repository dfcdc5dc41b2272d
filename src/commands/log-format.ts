import type { Config } from "../config/load-config.ts";

/** Whether a person reads what the server prints. */
export function isReadable(
  { logFormat }: Pick<Config, "logFormat">,
  output: { isTTY?: boolean } = process.stdout,
): boolean {
  return logFormat === "readable" || (logFormat === "auto" && output.isTTY === true);
}

/** Rewrites lines of the log for people; null where JSON stays. Loads the library only if it is used. */
export async function lineRewriter(config: Config): Promise<((line: string) => string) | null> {
  if (!isReadable(config)) return null;
  const { readableLog } = await import("../telemetry/log/readable-log.ts");
  return readableLog(config.hasColors);
}
