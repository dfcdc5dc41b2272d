import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type GuardedChild, type ProgramEnd, startGuarded } from "@antiphon/programs/guarded-child.ts";
import { type ChildMessage, type ChildOptions, readChildLine } from "./child/child-options.ts";

const PROGRAM = fileURLToPath(new URL("./child/main.ts", import.meta.url));
/** The folder of `src/`, of a clone or of the compiled server. */
const ROOT = resolve(dirname(PROGRAM), "../../..");

/** What the engine reads of the system to see which of its builds fits. */
const SYSTEM_FOLDERS = [
  "/lib",
  "/lib64",
  "/usr/lib",
  "/usr/lib64",
  "/etc/os-release",
  "/proc",
  "/sys/devices/system/cpu",
];

export interface ModelProcess {
  /** Resolves when the process has ended, for any reason. */
  readonly exit: Promise<ProgramEnd>;
  kill(): void;
}

/**
 * Starts the child that runs the model. It has an empty environment, and Node lets it read only the engine, the model
 * and its own code, and write only beside its socket. `prefix` is a command that the child is started by.
 */
export async function startModelProcess(
  options: ChildOptions,
  prefix: readonly string[],
  onMessage: (message: ChildMessage) => void,
): Promise<ModelProcess> {
  const socketFolder = dirname(options.socketPath);
  const lines = new Lines((line) => {
    const message = readChildLine(line);
    if (message !== null) onMessage(message);
  });
  const [starter, ...starterArgs] = prefix;
  const node = [...permissions(options, socketFolder), PROGRAM, JSON.stringify(options)];
  const child: GuardedChild = await startGuarded({
    program: starter ?? process.execPath,
    args: starter === undefined ? node : [...starterArgs, process.execPath, ...node],
    folder: socketFolder,
    environment: { GGML_NO_BACKTRACE: "1" }, // Attaching a debugger after a crash takes 300 ms.
    ownFolder: socketFolder,
    onOutput: (text) => lines.add(text),
  });
  return { exit: child.exit, kill: () => child.kill() };
}

/** The engine starts a copy of Node to see whether its binary works, so it may start programs. */
function permissions({ engineFolder, modelPath }: ChildOptions, socketFolder: string): readonly string[] {
  const modules = modulesAbove(ROOT);
  const ours = ["src", "packages", "package.json"].map((name) => join(ROOT, name));
  const read = [engineFolder, modelPath, socketFolder, ...ours, ...modules, ...SYSTEM_FOLDERS];
  return [
    "--permission",
    "--allow-addons",
    "--allow-child-process",
    "--no-warnings",
    ...read.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${socketFolder}`,
  ];
}

/** Where Node looks for packages of a module in a folder. */
function modulesAbove(folder: string): readonly string[] {
  const here = join(folder, "node_modules");
  const folders = existsSync(here) ? [here] : [];
  return dirname(folder) === folder ? folders : [...folders, ...modulesAbove(dirname(folder))];
}

/** Text that comes in pieces, as lines. */
class Lines {
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = (lines.pop() ?? "").slice(-LINE_CHARACTERS_MAX);
    for (const line of lines) this.#onLine(line);
  }
}

const LINE_CHARACTERS_MAX = 64 * 1024;
