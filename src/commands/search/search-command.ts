import type { Environment } from "../../config/load-config.ts";
import { MisusedCommand } from "../misused-command.ts";
import { runSearchAdd, SEARCH_ADD_USAGE, type SearchAddOutputs } from "./search-add.ts";

/** Runs `search …` and returns its exit code. `signal` ends it. Throws `MisusedCommand`. */
export async function runSearchCommand(
  [command, ...others]: readonly string[],
  environment: Environment,
  outputs: SearchAddOutputs,
  signal: AbortSignal,
): Promise<number> {
  if (command === "add") return await runSearchAdd(others, environment, outputs, signal);
  if (command === "--help" || command === "-h") {
    outputs.print(SEARCH_ADD_USAGE);
    return 0;
  }
  throw new MisusedCommand(
    command === undefined ? "What shall be done?" : `search has no '${command}'.`,
    SEARCH_ADD_USAGE,
  );
}
