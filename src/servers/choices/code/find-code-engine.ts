import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { probeBubblewrap } from "@antiphon/sandbox/engines/bubblewrap/bubblewrap-engine.ts";
import { readPreparedPython } from "@antiphon/sandbox/engines/bubblewrap/prepared-python.ts";
import { probeDocker } from "@antiphon/sandbox/engines/docker/docker-engine.ts";
import { probePyodide } from "@antiphon/sandbox/engines/pyodide/pyodide-engine.ts";
import type { SandboxEngine } from "@antiphon/sandbox/ports/sandbox-engine.ts";
import type { Config } from "../../../config/load-config.ts";
import { preparedFolder, pyodideWheelsFolder } from "./prepared-folder.ts";

export type FoundEngine =
  /**
   * `place`: the sandbox of the engine, such as `bubblewrap`. `passedOver`: why the Python of `antiphon code setup` is
   * not used; null if it is, or if there is none.
   */
  | {
      readonly engine: SandboxEngine;
      readonly place: string;
      readonly reason: null;
      readonly passedOver: string | null;
    }
  /** A whole sentence that says what would help. */
  | { readonly engine: null; readonly reason: string };

const PROGRAM_FOLDER = resolve(import.meta.dirname, "../../..");
const THIS_MACHINE = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/**
 * Tries the engines that CODE_ENGINE allows, the best first. An engine or a Python of the settings that does not run is
 * never replaced by another. Rejects with the signal's reason.
 */
export async function findCodeEngine(config: Config, signal: AbortSignal): Promise<FoundEngine> {
  switch (config.codeEngine) {
    case "off":
      return none("This server runs no code, because CODE_ENGINE is off.");
    case "docker":
      return await findDocker(config.codeImage, signal);
    case "bubblewrap": {
      const system = await findBubblewrap(config, signal);
      return system.engine === null ? none(`CODE_ENGINE is bubblewrap. ${system.reason}`) : system;
    }
    case "pyodide": {
      const confinedEngine = await findPyodide(config, "bubblewrap", signal);
      return confinedEngine.engine === null ? await findPyodide(config, "none", signal) : confinedEngine;
    }
    case "auto":
      return await findAny(config, signal);
  }
}

/** Without bubblewrap, only Node hardens Pyodide. It then serves this machine only, unless CODE_ENGINE names it. */
async function findAny(config: Config, signal: AbortSignal): Promise<FoundEngine> {
  const system = await findBubblewrap(config, signal);
  if (system.engine !== null) return system;
  if (config.codePython !== null)
    return none(
      `This server runs no code, because CODE_PYTHON does not run. Correct or remove that setting, or set CODE_ENGINE to pyodide. (${system.reason})`,
    );
  const isChosen = (await readPreparedPython(preparedFolder(config.dataDir))) !== null;
  const instead = (other: FoundEngine): FoundEngine =>
    other.engine === null || !isChosen ? other : { ...other, passedOver: system.reason };
  const confinedEngine = await findPyodide(config, "bubblewrap", signal);
  if (confinedEngine.engine !== null) return instead(confinedEngine);
  if (THIS_MACHINE.test(config.host)) return instead(await findPyodide(config, "none", signal));
  return none(
    `This server runs no code, because HOST opens it to other machines and bubblewrap does not confine Pyodide here. Install bubblewrap, or set CODE_ENGINE to pyodide. (${system.reason} ${confinedEngine.reason})`,
  );
}

/**
 * The Python of CODE_PYTHON, or of `antiphon code setup`, or of the system in bubblewrap. A prepared Python goes with
 * the version of Python that it was made for.
 */
async function findBubblewrap(
  { codePython, dataDir, databaseFile }: Config,
  signal: AbortSignal,
): Promise<FoundEngine> {
  const python = codePython === null ? null : resolve(codePython);
  const secretFolders = [PROGRAM_FOLDER, resolve(dataDir)];
  if (databaseFile !== ":memory:") secretFolders.push(dirname(resolve(databaseFile)));
  const prepared = python === null ? await readPreparedPython(preparedFolder(dataDir)) : null;
  const probe = await probeBubblewrap({ python, secretFolders, prepared }, signal);
  if (probe.type === "fails") return none(probe.why);
  const found = engineFound(probe.engine, "bubblewrap");
  const { python: version } = probe.engine.abilities;
  if (prepared === null || version === prepared.version) return found;
  const passedOver = `Its packages are for Python ${prepared.version}, and this machine now has ${version}. Run antiphon code setup --renew.`;
  return { ...found, passedOver };
}

async function findDocker(image: string | null, signal: AbortSignal): Promise<FoundEngine> {
  if (image === null) return none("CODE_ENGINE is docker. Set CODE_IMAGE to an image with Python 3.");
  const probe = await probeDocker({ image }, signal);
  return probe.type === "works" ? engineFound(probe.engine, "docker") : none(probe.why);
}

async function findPyodide(
  { codePackagesDir, dataDir }: Config,
  confinement: "bubblewrap" | "none",
  signal: AbortSignal,
): Promise<FoundEngine> {
  const ownFolder = pyodideWheelsFolder(dataDir);
  const wheelsFolder = codePackagesDir === null ? (existsSync(ownFolder) ? ownFolder : null) : resolve(codePackagesDir);
  const cacheFolder = join(resolve(dataDir), "pyodide");
  const probe = await probePyodide({ cacheFolder, wheelsFolder, confinement }, signal);
  if (probe.type === "fails") return none(probe.why);
  return engineFound(
    probe.engine,
    confinement === "bubblewrap" ? "Pyodide in bubblewrap" : "Pyodide in a process of few rights",
  );
}

function engineFound(engine: SandboxEngine, place: string): Extract<FoundEngine, { reason: null }> {
  return { engine, place, reason: null, passedOver: null };
}

function none(reason: string): FoundEngine {
  return { engine: null, reason };
}
