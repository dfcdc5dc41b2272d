import type { Environment } from "../../config/load-config.ts";
import { MisusedCommand } from "../misused-command.ts";
import { runSearchAdd, SEARCH_ADD_USAGE, type SearchAddOutputs } from "./search-add.ts";
import { runSearchSetup, SEARCH_SETUP_USAGE, type SearchSetupOutput } from "./search-setup.ts";

const USAGE = `${SEARCH_SETUP_USAGE}\n\n${SEARCH_ADD_USAGE}`;

/** Runs `search …` and returns its exit code. `signal` ends it. Throws `MisusedCommand`. */
export async function runSearchCommand(
  [command, ...others]: readonly string[],
  environment: Environment,
  outputs: SearchAddOutputs & SearchSetupOutput,
  signal: AbortSignal,
): Promise<number> {
  if (command === "setup") return await runSearchSetup(others, environment, outputs, signal);
  if (command === "add") return await runSearchAdd(others, environment, outputs, signal);
  if (command === "--help" || command === "-h") {
    outputs.print(USAGE);
    return 0;
  }
  throw new MisusedCommand(command === undefined ? "What shall be done?" : `search has no '${command}'.`, USAGE);
}
