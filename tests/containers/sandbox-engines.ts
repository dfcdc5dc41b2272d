import { tmpdir } from "node:os";
import { probeBubblewrap } from "@antiphon/sandbox/engines/bubblewrap/bubblewrap-engine.ts";
import { probeDocker } from "@antiphon/sandbox/engines/docker/docker-engine.ts";
import type { EngineProbe, SandboxEngine } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import { PYODIDE_CONFINEMENTS, probePyodideHere } from "./pyodide-here.ts";
import { buildPythonImage } from "./python-image.ts";

export interface TestedEngine {
  readonly name: string;
  /** Null where it does not run. */
  readonly engine: SandboxEngine | null;
  /** Why it does not run. */
  readonly why: string;
  /** Whether it is Pyodide, whose system is its own. */
  readonly isPyodide: boolean;
}

/** The engines of this machine. */
export async function sandboxEngines(): Promise<readonly TestedEngine[]> {
  return [await bubblewrap(), await docker()];
}

/** Pyodide alone and in bubblewrap. A snapshot of it is kept in the folder. */
export async function pyodideEngines(cacheFolder: string): Promise<readonly TestedEngine[]> {
  const engines: TestedEngine[] = [];
  for (const confinement of PYODIDE_CONFINEMENTS) {
    const name = confinement === "none" ? "Pyodide" : `Pyodide in ${confinement}`;
    engines.push({ ...tested(name, await probePyodideHere(cacheFolder, confinement)), isPyodide: true });
  }
  return engines;
}

async function bubblewrap(): Promise<TestedEngine> {
  const probe = await probeBubblewrap(
    { python: null, secretFolders: [process.cwd(), tmpdir()] },
    AbortSignal.timeout(30_000),
  );
  return tested("bubblewrap", probe);
}

async function docker(): Promise<TestedEngine> {
  const built = buildPythonImage();
  if (built.type === "fails") return tested("docker", built);
  const options = { image: built.image, programs: [built.program] };
  return tested("docker", await probeDocker(options, AbortSignal.timeout(60_000)));
}

function tested(name: string, probe: EngineProbe): TestedEngine {
  const isPyodide = false;
  if (probe.type === "works") return { name, engine: probe.engine, why: "", isPyodide };
  return { name, engine: null, why: probe.why, isPyodide };
}
