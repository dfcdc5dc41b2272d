import { resolve } from "node:path";

/** The folder of the packages for Pyodide that `antiphon code setup --pyodide` fetches. */
export function pyodideWheelsFolder(dataDir: string): string {
  return resolve(dataDir, "code-packages");
}

/**
 * The folder of the Python that `antiphon code setup` makes. A server that runs as root gives each sandbox another
 * user, which cannot enter the data folder: the folder is then beside it.
 */
export function preparedFolder(dataDir: string): string {
  return process.getuid?.() === 0 ? `${resolve(dataDir)}-code-python` : resolve(dataDir, "code-python");
}
