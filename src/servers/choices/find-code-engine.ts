import { dirname, resolve } from "node:path";
import type { Config } from "../../config/load-config.ts";
import { probeBubblewrap } from "../../containers/engines/bubblewrap/bubblewrap-engine.ts";
import type { SandboxEngine } from "../../containers/ports.ts";

export type FoundEngine =
  | { readonly engine: SandboxEngine; readonly reason: null }
  /** A whole sentence that says what would help. */
  | { readonly engine: null; readonly reason: string };

const PROGRAM_FOLDER = resolve(import.meta.dirname, "../../..");

/** Tries the engines that CODE_ENGINE allows, the best one first. Rejects with the signal's reason. */
export async function findCodeEngine(config: Config, signal: AbortSignal): Promise<FoundEngine> {
  switch (config.codeEngine) {
    case "off":
      return { engine: null, reason: "This server runs no code, because CODE_ENGINE is off." };
    case "docker":
      return { engine: null, reason: "This server cannot run code in docker yet. Set CODE_ENGINE to auto." };
    case "pyodide":
      return { engine: null, reason: "This server cannot run code in pyodide yet. Set CODE_ENGINE to auto." };
    case "auto":
    case "bubblewrap":
      return await findBubblewrap(config, signal);
  }
}

/** The system's Python in bubblewrap. */
async function findBubblewrap({ dataDir, databaseFile }: Config, signal: AbortSignal): Promise<FoundEngine> {
  const secretFolders = [PROGRAM_FOLDER, resolve(dataDir)];
  if (databaseFile !== ":memory:") secretFolders.push(dirname(resolve(databaseFile)));
  const probe = await probeBubblewrap({ secretFolders }, signal);
  return probe.type === "works" ? { engine: probe.engine, reason: null } : { engine: null, reason: probe.why };
}
