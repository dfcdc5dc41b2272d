import { readFile } from "node:fs/promises";
import type { CodeAbilities } from "../../../responses-api/containers.ts";
import { type Sandbox, type SandboxEngine, SandboxFailed, type SandboxLimits } from "../../ports.ts";
import type { Confinement } from "./child-command.ts";
import { makeSnapshot, type StarterOptions, startPyodide } from "./pyodide-starter.ts";
import { isWholeSnapshot, snapshotPath, storeSnapshot } from "./snapshot.ts";

const NOTEBOOK = new URL("../../harness/notebook.py", import.meta.url);
const MEBIBYTE = 1024 * 1024;
/** For the snapshot, and for the sandbox by which the engine is tried. */
const TRIAL_LIMITS: SandboxLimits = { memoryBytes: 1024 * MEBIBYTE, diskBytes: 256 * MEBIBYTE, processesMax: 1 };

export interface PyodideOptions {
  /** For a snapshot of 31 MB, from which sandboxes start several times faster. It is made if it is missing. */
  readonly cacheFolder: string;
  /** Folder of wheels that code can import; null for none. */
  readonly wheelsFolder: string | null;
  readonly confinement: Confinement;
}

export type PyodideProbe =
  | { readonly type: "works"; readonly engine: SandboxEngine }
  /** A sentence. */
  | { readonly type: "fails"; readonly why: string };

/** Tries whether Pyodide runs here, in a Node process of few rights. Rejects with the signal's reason. */
export async function probePyodide(options: PyodideOptions, signal: AbortSignal): Promise<PyodideProbe> {
  const { cacheFolder, wheelsFolder, confinement } = options;
  const wheels = wheelsFolder === null ? null : `${wheelsFolder.replace(/\/+$/, "")}/`;
  const engine = new PyodideEngine({ notebook: await readFile(NOTEBOOK, "utf8"), wheels, confinement }, cacheFolder);
  try {
    await engine.open(signal);
    return { type: "works", engine };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SandboxFailed)) throw error;
    return { type: "fails", why: `Pyodide does not work here: ${error.message}` };
  }
}

class PyodideEngine implements SandboxEngine {
  readonly #options: StarterOptions;
  readonly #cacheFolder: string;
  readonly #live = new Set<Sandbox>();
  #snapshot: string | null = null;
  #abilities: CodeAbilities = { engine: "pyodide", python: "", packages: [], hasShell: false };

  constructor(options: StarterOptions, cacheFolder: string) {
    this.#options = options;
    this.#cacheFolder = cacheFolder;
  }

  get abilities(): CodeAbilities {
    return this.#abilities;
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#findSnapshot(signal);
    const trial = await this.#startWithOrWithout(TRIAL_LIMITS, signal);
    try {
      const packages = await trial.packages(signal);
      this.#abilities = { ...this.#abilities, python: trial.python, packages };
    } finally {
      await trial.kill();
    }
  }

  async start(limits: SandboxLimits, signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.#startWithOrWithout(limits, signal);
    this.#live.add(sandbox);
    void sandbox.ended.then(() => this.#live.delete(sandbox));
    return sandbox;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live].map((sandbox) => sandbox.kill()));
  }

  /** Without a snapshot, sandboxes start all the same, only slower. */
  async #startWithOrWithout(limits: SandboxLimits, signal: AbortSignal): ReturnType<typeof startPyodide> {
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

  /** Makes a broken one anew. From one that is whole, this machine cannot start. */
  async #replaceSnapshot(path: string, signal: AbortSignal): Promise<void> {
    this.#snapshot = null;
    if (!(await isWholeSnapshot(path))) await this.#findSnapshot(signal);
  }

  /** Uses the stored snapshot, or makes one if that is possible. */
  async #findSnapshot(signal: AbortSignal): Promise<void> {
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
