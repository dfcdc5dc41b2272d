import type { Config } from "../config/load-config.ts";

/** Whether a person reads the log. */
export function isReadable(
  { logFormat }: Pick<Config, "logFormat">,
  output: { isTTY?: boolean } = process.stdout,
): boolean {
  return logFormat === "readable" || (logFormat === "auto" && output.isTTY === true);
}

/** Rewrites log lines for people; null if they stay JSON. Loads the library only when needed. */
export async function lineRewriter(config: Config): Promise<((line: string) => string) | null> {
  if (!isReadable(config)) return null;
  const { readableLog } = await import("../telemetry/log/readable-log.ts");
  return readableLog(config.hasColors);
}
