import { randomInt } from "node:crypto";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { release } from "node:os";
import { startPiped } from "@antiphon/programs/piped-child.ts";
import { HARNESS_STARTER, harnessOpening, MAPPED_BYTES_MAX } from "../../harness/harness-opening.ts";
import type { LinkEnd, LinkedChild } from "../../harness/sandbox-channel.ts";
import type { SandboxLink } from "../../harness/sandbox-link.ts";
import { type EngineProbe, SandboxFailed, type SandboxLimits } from "../../ports/sandbox-engine.ts";
import { processIsGone, readProcessTree } from "../process-tree.ts";
import { SANDBOX_ENVIRONMENT } from "../sandbox-environment.ts";
import { watchSandbox } from "../sandbox-watch.ts";
import { findSystemFolders, type SystemFolders } from "../system-folders.ts";
import { openLink, type StartLink, TriedEngine } from "../tried-engine.ts";
import { type BubblewrapPlan, bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { FILTER_DESCRIPTOR, openFilterFile } from "./filter-file.ts";
import type { PreparedPython } from "./prepared-python.ts";

const BUBBLEWRAP = "/usr/bin/bwrap";
/** Debian's packages belong to the first one, regardless of PATH. */
const PYTHONS = ["/usr/bin/python3", "/usr/local/bin/python3"];
/** Where the sandbox sees a prepared Python. */
const PREPARED_FOLDER = "/opt/antiphon-python";
const DATA_FOLDER = "/mnt/data";
const TMP_BYTES = 128 * 1024 * 1024;
const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;
const OPEN_FILES_MAX = 256;
const NICENESS = 5;
/** The shell, its guard and its reader, `bwrap`, and the first process of the sandbox. */
const OWN_PROCESSES = 5;
/** The first process of the sandbox, Python, and its output thread. */
const PROCESSES_MORE = 3;
const START_MS_MAX = 20_000;
/** Since this kernel, processes are counted per user namespace. */
const COUNTED_FROM = { major: 5, minor: 14 };
/** If this process runs as root, each sandbox gets its own user from this range, which systems do not assign. */
const USERS_START = 2_000_000_000;
const USERS = 100_000_000;
const NOBODY = 65_534;

const GONE_MS_MAX = 5000;
const WRITABLE_FOLDERS = [DATA_FOLDER, "/tmp", "/dev/shm"];
const PROBE_LIMITS: SandboxLimits = { memoryBytes: 2 ** 30, diskBytes: 2 ** 20, processesMax: 16 };

export interface BubblewrapOptions {
  /** Absolute path of the Python to use, in a folder `bin` that is beside its `lib`; null to search for one. */
  readonly python: string | null;
  /** Absolute paths of folders hidden from code, such as the server's data and program. */
  readonly secretFolders: readonly string[];
  /** A Python with packages, which is used instead; null for none. */
  readonly prepared?: PreparedPython | null;
}

interface Ready {
  /** Its path in the sandbox. */
  readonly python: string;
  readonly renamed: BubblewrapPlan["renamed"];
  readonly folders: SystemFolders;
  /** The user of a new sandbox; null for this process's own. */
  readonly newUser: () => number | null;
}

/** Tests whether this machine's Python runs in bubblewrap here. */
export async function probeBubblewrap(options: BubblewrapOptions, signal: AbortSignal): Promise<EngineProbe> {
  if (process.platform !== "linux") return fails("Bubblewrap needs Linux.");
  if (!(await isProgram(BUBBLEWRAP))) return fails(`Bubblewrap is not installed: there is no ${BUBBLEWRAP}.`);
  const { prepared = null } = options;
  const pythons = prepared !== null ? [prepared.base] : options.python === null ? PYTHONS : [options.python];
  const python = await firstProgram(pythons);
  if (python === null) return fails(`Python is not installed: there is no ${pythons.join(" and no ")}.`);
  const folders = await findSystemFolders(options.secretFolders, python);
  let why = "";
  for (const newUser of process.getuid?.() === 0 ? [ownUser, () => NOBODY] : [() => null]) {
    const ready: Ready = { ...pythonInside(python, prepared), folders, newUser };
    try {
      const start: StartLink = (limits, stop) => startSandbox(ready, limits, stop);
      return { type: "works", engine: await TriedEngine.open("bubblewrap", start, PROBE_LIMITS, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SandboxFailed)) throw error;
      why = error.message;
    }
  }
  return fails(`Bubblewrap does not work here${options.python === null ? "" : ` with ${options.python}`}: ${why}`);
}

function pythonInside(python: string, prepared: PreparedPython | null): Pick<Ready, "python" | "renamed"> {
  if (prepared === null) return { python, renamed: [] };
  return {
    python: `${PREPARED_FOLDER}/bin/python3`,
    renamed: [{ path: PREPARED_FOLDER, source: prepared.folder }],
  };
}

/** The Python of this machine that runs code unless one is chosen; null if there is none. */
export function findSystemPython(): Promise<string | null> {
  return firstProgram(PYTHONS);
}

async function startSandbox(ready: Ready, limits: SandboxLimits, signal: AbortSignal): Promise<SandboxLink> {
  const launch = Promise.withResolvers<StartedProgram>();
  const opening = await harnessOpening({
    dataBytesMax: limits.memoryBytes,
    addressBytesMax: limits.memoryBytes + MAPPED_BYTES_MAX,
    processesMax: countsPerNamespace() ? limits.processesMax + PROCESSES_MORE : null,
    openFilesMax: OPEN_FILES_MAX,
    niceness: NICENESS,
  });
  const start = async (end: LinkEnd, onComplaint: (bytes: Buffer) => void): Promise<LinkedChild> => {
    const program = await startProgram(ready, limits, end, onComplaint);
    launch.resolve(program);
    return program.child;
  };
  const link = await openLink(start, { opening, timeoutMs: START_MS_MAX }, signal);
  const program = await launch.promise;
  await program.findFirst();
  const over = new AbortController();
  void link.exit.then(() => over.abort());
  const target = { root: program.group, limits, ownProcesses: OWN_PROCESSES, folders: WRITABLE_FOLDERS };
  void watchSandbox(target, (reason) => link.stop(reason), over.signal);
  return link;
}

interface StartedProgram {
  readonly child: LinkedChild;
  readonly group: number;
  /** Finds the first process, whose end is the end of everything in the sandbox. */
  findFirst(): Promise<void>;
}

async function startProgram(
  ready: Ready,
  limits: SandboxLimits,
  { onOutput, onEnd }: LinkEnd,
  onComplaint: (bytes: Buffer) => void,
): Promise<StartedProgram> {
  const exit = Promise.withResolvers<void>();
  let first: number | null = null;
  const filter = await openFilterFile();
  const userId = ready.newUser();
  try {
    const child = await startPiped({
      program: BUBBLEWRAP,
      args: bubblewrapArguments({
        ...ready.folders,
        renamed: [...ready.renamed, ...ready.folders.installed.map((path) => ({ path, source: path }))],
        writable: writableFolders(limits),
        environment: SANDBOX_ENVIRONMENT,
        folder: DATA_FOLDER,
        filterFile: filter === null ? null : FILTER_DESCRIPTOR,
        program: [ready.python, "-I", "-c", HARNESS_STARTER],
      }),
      folder: "/",
      environment: { PATH: SANDBOX_ENVIRONMENT.PATH },
      isEnvironmentWhole: true,
      ...(userId === null ? {} : { userId }),
      ...(filter === null ? {} : { file: filter.fd }),
      onOutput,
      onComplaint,
      onEnd: () => {
        void (first === null ? Promise.resolve() : processIsGone(first, GONE_MS_MAX)).then(exit.resolve);
        onEnd();
      },
    });
    const findFirst = async (): Promise<void> => {
      first = (await readProcessTree(child.group)).find(({ isFirstInside }) => isFirstInside)?.id ?? null;
    };
    const linkedChild = {
      write: (bytes: Uint8Array) => child.write(bytes),
      kill: () => child.kill(),
      exit: exit.promise,
    };
    return { child: linkedChild, group: child.group, findFirst };
  } finally {
    await filter?.close();
  }
}

function writableFolders({ diskBytes }: SandboxLimits): BubblewrapPlan["writable"] {
  return [
    { path: DATA_FOLDER, bytes: diskBytes },
    { path: "/tmp", bytes: TMP_BYTES },
    { path: "/dev/shm", bytes: SHARED_MEMORY_BYTES },
  ];
}

function ownUser(): number {
  return USERS_START + randomInt(USERS);
}

function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return major > COUNTED_FROM.major || (major === COUNTED_FROM.major && minor >= COUNTED_FROM.minor);
}

async function firstProgram(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) if (await isProgram(path)) return path;
  return null;
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function fails(why: string): EngineProbe {
  return { type: "fails", why };
}
