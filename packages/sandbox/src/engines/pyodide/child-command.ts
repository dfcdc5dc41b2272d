import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { SandboxLimits } from "../../ports/sandbox-engine.ts";
import { bubblewrapArguments } from "../bubblewrap/bubblewrap-arguments.ts";
import { FILTER_DESCRIPTOR } from "../bubblewrap/filter-file.ts";

const require = createRequire(import.meta.url);
const MANIFEST_OF_PYODIDE = "pyodide/package.json";
const { version }: { readonly version: string } = require(MANIFEST_OF_PYODIDE);
export const PYODIDE_VERSION = version;
/** Pyodide's files; ends with a slash. */
export const PYODIDE_FOLDER = `${dirname(require.resolve(MANIFEST_OF_PYODIDE))}/`;
const CHILD_PROGRAM = fileURLToPath(new URL("./child/main.ts", import.meta.url));
/** The child's own files; ends with a slash. */
export const CHILD_FOLDER = `${dirname(CHILD_PROGRAM)}/`;
/** Tells Node that the child's files are modules. */
const MANIFEST = fileURLToPath(new URL("../../../package.json", import.meta.url));

const MEBIBYTE = 1024 * 1024;
const KIBIBYTE = 1024;
const WASM_PAGE_BYTES = 64 * KIBIBYTE;
/** Node's memory besides Python's, mostly for compiled code. */
const NODE_BYTES = 192 * MEBIBYTE;
/** Memory that Node reserves without using it: stacks of threads and room for compiled code. */
const RESERVED_BYTES = 768 * MEBIBYTE;
/** Python's minimum, even if the limit is lower: it could not start. The limit still ends the child. */
const PYTHON_BYTES_MIN = 64 * MEBIBYTE;
/** JavaScript objects. Python's are in WebAssembly memory, and files in buffers. */
const HEAP_MEBIBYTES = 128;
const OPEN_FILES_MAX = 64;

/**
 * Sets kernel limits on writable memory and open files, then runs the program. A limit that the system does not know is
 * skipped.
 */
const LIMITED = `ulimit -d "$1" 2>/dev/null; ulimit -n ${OPEN_FILES_MAX} 2>/dev/null; shift; exec "$@"`;

/** The child's confinement: `bubblewrap` gives it a system with only its own files and no network. */
export type Confinement = "bubblewrap" | "none";

/** The child's readable files besides Pyodide and itself. */
export interface ChildFiles {
  readonly snapshot: string | null;
  /** Ends with a slash. */
  readonly wheels: string | null;
}

export interface ChildPlace {
  readonly confinement: Confinement;
  /** Whether it gets a system call filter; in bubblewrap only. */
  readonly hasFilter: boolean;
}

export interface ChildCommand {
  readonly program: string;
  readonly args: readonly string[];
}

/** Starts `child/main.ts` with minimal rights. Needs PATH; the child gets no environment. */
export function childCommand(
  files: ChildFiles,
  limits: SandboxLimits,
  { confinement, hasFilter }: ChildPlace,
): ChildCommand {
  const node = realpathSync(process.execPath);
  const { snapshot, wheels } = files;
  const readable = [PYODIDE_FOLDER, CHILD_FOLDER, MANIFEST, snapshot, wheels].filter((path) => path !== null);
  const program = [node, ...nodeFlags(readable, limits), CHILD_PROGRAM];
  const shellArguments = ["-c", LIMITED, "sh", String(Math.ceil((RESERVED_BYTES + limits.memoryBytes) / KIBIBYTE))];
  if (confinement === "none")
    return { program: "/bin/sh", args: [...shellArguments, "/usr/bin/env", "-i", ...program] };
  const sandboxArguments = bubblewrapArguments({
    readable: [node, ...sharedLibraries(), ...readable],
    links: [],
    hiddenPaths: [],
    renamed: [],
    writable: [],
    environment: {},
    folder: "/",
    filterFile: hasFilter ? FILTER_DESCRIPTOR : null,
    program,
  });
  return { program: "/bin/sh", args: [...shellArguments, "bwrap", ...sandboxArguments] };
}

/** Restrictions that only Node can enforce. Inside bubblewrap, they are a second barrier. */
function nodeFlags(readable: readonly string[], { memoryBytes }: SandboxLimits): string[] {
  const pages = Math.floor(Math.max(PYTHON_BYTES_MIN, memoryBytes - NODE_BYTES) / WASM_PAGE_BYTES);
  return [
    "--permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
    "--disallow-code-generation-from-strings",
    "--disable-sigusr1",
    "--no-addons",
    "--no-warnings",
    `--wasm-max-mem-pages=${pages}`,
    `--max-old-space-size=${HEAP_MEBIBYTES}`,
  ];
}

let librariesFound: readonly string[] | null = null;

/** The system libraries loaded by this Node, which the child runs too. */
function sharedLibraries(): readonly string[] {
  librariesFound ??= findLibraries();
  return librariesFound;
}

function findLibraries(): readonly string[] {
  Reflect.set(process.report, "excludeNetwork", true); // Names would be looked up.
  const report: unknown = process.report.getReport();
  const objects: unknown = isRecord(report) ? report["sharedObjects"] : null;
  const paths = Array.isArray(objects) ? objects.filter((path): path is string => typeof path === "string") : [];
  return paths.filter((path) => path.startsWith("/") && !path.endsWith(".node"));
}
