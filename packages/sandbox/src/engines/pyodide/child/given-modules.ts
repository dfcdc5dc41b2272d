import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { posix } from "node:path";

/** The source of functions for the modules below while they load. */
const GIVEN = "__given";

/** A shell's exit status for a missing program. Every program of `os.system` ends with it. */
const NO_PROGRAM = 127;
const REFUSE = '() => { throw new Error("This is not available in the sandbox.") }';

/**
 * The modules for Pyodide's imports: only the few harmless functions that it calls. No object visible to Python thus
 * leads to a Node module. A server socket never gets a connection.
 */
const SOURCES: Readonly<Record<string, string>> = {
  "node:fs": `const { readFileSync } = globalThis.${GIVEN}; const refuse = ${REFUSE};
    export { readFileSync, refuse as readSync, refuse as writeSync, refuse as fsyncSync };
    export default { readFileSync, readSync: refuse, writeSync: refuse, fsyncSync: refuse };`,
  "node:fs/promises": `const { readFileSync } = globalThis.${GIVEN};
    export const readFile = async (file, options) => readFileSync(file, options);`,
  "node:url": `export default {
    pathToFileURL: (path) => new URL("file://" + path), fileURLToPath: (url) => new URL(url).pathname };`,
  "node:path": `const { resolve } = globalThis.${GIVEN};
    export const sep = "/"; export { resolve }; export default { sep, resolve };`,
  "node:vm": "export default {};",
  "node:module": `const { readFileSync, resolve, dirname, randomFillSync } = globalThis.${GIVEN};
    const modules = {
      "node:fs": { readFileSync }, "node:path": { resolve, dirname, normalize: (path) => path },
      "node:url": { fileURLToPath: (url) => new URL(url).pathname },
      "node:crypto": { randomFillSync }, "node:tty": { isatty: () => false },
      "node:child_process": { spawnSync: () => ({ status: ${NO_PROGRAM}, signal: null }) },
      ws: Object.assign(${REFUSE}, { Server: class { on() {} close() {} } }),
    };
    export const createRequire = () => (name) => {
      if (!Object.hasOwn(modules, name)) throw new Error("This is not available in the sandbox.");
      return modules[name];
    };`,
};

const SCHEME = "given:";

export interface ModuleGate {
  /** Then refuses every import, and reading files through the provided modules. */
  close(): void;
}

/**
 * From now on, imports get the modules above, or a file of this folder, whose path ends with a slash; all other imports
 * are refused.
 */
export function gateModules(folder: string): ModuleGate {
  const prefix = new URL(`file://${folder}`).href;
  let isOpen = true;
  const readAllowed: typeof readFileSync = function readAllowed(file: unknown, options?: unknown) {
    if (!isOpen || typeof file !== "string" || !file.startsWith(folder)) throw new Refused();
    return Reflect.apply(readFileSync, null, [file, options]);
  };
  const functions = {
    readFileSync: readAllowed,
    resolve: resolvePath,
    dirname: dirnamePath,
    randomFillSync: randomFill,
  };
  Reflect.set(globalThis, GIVEN, functions);
  registerHooks({
    resolve(specifier, context, next) {
      if (!isOpen) throw new Refused();
      if (Object.hasOwn(SOURCES, specifier)) return { url: SCHEME + specifier, format: "module", shortCircuit: true };
      if (!specifier.startsWith(prefix)) throw new Refused();
      return next(specifier, context);
    },
    load(url, context, next) {
      if (!isOpen) throw new Refused();
      const source = url.startsWith(SCHEME) ? SOURCES[url.slice(SCHEME.length)] : undefined;
      return source === undefined ? next(url, context) : { source, format: "module", shortCircuit: true };
    },
  });
  return {
    close: () => {
      isOpen = false;
      Reflect.deleteProperty(globalThis, GIVEN);
    },
  };
}

class Refused extends Error {
  override readonly message = "This is not available in the sandbox.";
}

function resolvePath(...parts: string[]): string {
  return posix.resolve(...parts);
}

function dirnamePath(path: string): string {
  return posix.dirname(path);
}

function randomFill(view: NodeJS.ArrayBufferView): NodeJS.ArrayBufferView {
  return randomFillSync(view);
}
