import { join } from "node:path";
import { loadConfig } from "../../src/config/load-config.ts";
import { engineState } from "../../src/embedded-model/engine-folder.ts";
import { EngineNotFetched, fetchEngine } from "../../src/embedded-model/fetch-engine.ts";

const FOLDER = join(import.meta.dirname, "../../.cache/language-engine");

/** The folder of the engine, fetched once by `make test-setup`; null, with a notice, if it is not there. */
export function engineForTests(): string | null {
  const folder = engineFolder();
  if (engineState(folder) === "ready") return folder;
  console.warn("Tests with a real language model are left out: node scripts/language-engine.ts fetches the engine.");
  return null;
}

/** Fetches the engine for the tests; null if this machine cannot have it. */
export async function fetchEngineForTests(): Promise<string | null> {
  const folder = engineFolder();
  try {
    const environment = Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    await fetchEngine(folder, Object.fromEntries(environment), new AbortController().signal);
    return folder;
  } catch (error) {
    if (!(error instanceof EngineNotFetched)) throw error;
    console.warn(`Tests with a real language model are left out. ${error.message}.`);
    return null;
  }
}

/** MODEL_ENGINE_DIR names another one. */
function engineFolder(): string {
  return loadConfig(process.env, []).modelEngineDir ?? FOLDER;
}
