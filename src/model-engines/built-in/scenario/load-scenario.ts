import { readFile } from "node:fs/promises";
import { parseScenario } from "./parse-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { ScenarioError } from "./scenario-error.ts";

/** Throws `ScenarioError` if the file cannot be read or does not fit the format. */
export async function loadScenario(file: string): Promise<Scenario> {
  return parseScenario(await readText(file), file);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ScenarioError(`${file}: the scenario file cannot be read: ${reason}.`, { cause });
  }
}
