import { notebookSource } from "../../harness/notebook-source.ts";
import { type EngineProbe, SandboxFailed, type SandboxLimits } from "../../ports/sandbox-engine.ts";
import { type StartLink, TriedEngine } from "../tried-engine.ts";
import type { Confinement } from "./child-command.ts";
import { makeSnapshot, type StarterOptions, startPyodide } from "./pyodide-starter.ts";
import { isWholeSnapshot, snapshotPath, storeSnapshot } from "./snapshot.ts";

const MEBIBYTE = 1024 * 1024;
/** For the snapshot and for the test sandbox. */
const TRIAL_LIMITS: SandboxLimits = { memoryBytes: 1024 * MEBIBYTE, diskBytes: 256 * MEBIBYTE, processesMax: 1 };

export interface PyodideOptions {
  /** For a snapshot of 31 MB, from which sandboxes start several times faster. Created if missing. */
  readonly cacheFolder: string;
  /** Folder of importable wheels; null for none. */
  readonly wheelsFolder: string | null;
  readonly confinement: Confinement;
}

/** Tests whether Pyodide runs here, in a restricted Node process. Rejects with the signal's reason. */
export async function probePyodide(pyodideOptions: PyodideOptions, signal: AbortSignal): Promise<EngineProbe> {
  const { cacheFolder, wheelsFolder, confinement } = pyodideOptions;
  const wheels = wheelsFolder === null ? null : `${wheelsFolder.replace(/\/+$/, "")}/`;
  const options = { notebook: await notebookSource(), wheels, confinement };
  const starter = new SnapshotStarter(options, cacheFolder);
  try {
    await starter.findSnapshot(signal);
    const start: StartLink = (limits, stop) => starter.start(limits, stop);
    return { type: "works", engine: await TriedEngine.open("pyodide", start, TRIAL_LIMITS, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SandboxFailed)) throw error;
    return { type: "fails", why: `Pyodide does not work here: ${error.message}` };
  }
}

/** Starts sandboxes from a snapshot if there is one. */
class SnapshotStarter {
  readonly #options: StarterOptions;
  readonly #cacheFolder: string;
  #snapshot: string | null = null;

  constructor(options: StarterOptions, cacheFolder: string) {
    this.#options = options;
    this.#cacheFolder = cacheFolder;
  }

  /** Without a snapshot, sandboxes start more slowly. */
  async start(limits: SandboxLimits, signal: AbortSignal): ReturnType<typeof startPyodide> {
    const snapshot = this.#snapshot;
    if (snapshot === null) return await startPyodide(this.#options, null, limits, signal);
    try {
      return await startPyodide(this.#options, snapshot, limits, signal);
    } catch (error) {
      if (!(error instanceof SandboxFailed)) throw error;
    }
    const sandbox = await startPyodide(this.#options, null, limits, signal);
    if (this.#snapshot === snapshot) await this.#replaceSnapshot(snapshot, signal);
    return sandbox;
  }

  /** Recreates a broken snapshot. An intact one cannot be started on this machine. */
  async #replaceSnapshot(path: string, signal: AbortSignal): Promise<void> {
    this.#snapshot = null;
    if (!(await isWholeSnapshot(path))) await this.findSnapshot(signal);
  }

  /** Uses the stored snapshot, or creates one if possible. */
  async findSnapshot(signal: AbortSignal): Promise<void> {
    const { notebook, wheels } = this.#options;
    try {
      const path = await snapshotPath(this.#cacheFolder, notebook, wheels);
      if (!(await isWholeSnapshot(path)))
        await storeSnapshot(path, this.#cacheFolder, await makeSnapshot(this.#options, TRIAL_LIMITS, signal));
      this.#snapshot = path;
    } catch {
      signal.throwIfAborted();
    }
  }
}
