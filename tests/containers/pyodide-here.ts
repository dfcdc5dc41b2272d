import type { Confinement } from "@antiphon/sandbox/engines/pyodide/child-command.ts";
import { probePyodide } from "@antiphon/sandbox/engines/pyodide/pyodide-engine.ts";
import type { EngineProbe } from "@antiphon/sandbox/ports/sandbox-engine.ts";

const PROBE_MS_MAX = 120_000;

export const PYODIDE_CONFINEMENTS: readonly Confinement[] = ["none", "bubblewrap"];

/** Pyodide with nothing or bubblewrap around it. A folder for its snapshot can be shared by both. */
export function probePyodideHere(
  cacheFolder: string,
  confinement: Confinement,
  wheelsFolder: string | null = null,
): Promise<EngineProbe> {
  return probePyodide({ cacheFolder, wheelsFolder, confinement }, AbortSignal.timeout(PROBE_MS_MAX));
}
