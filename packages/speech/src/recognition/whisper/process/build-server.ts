import {
  access,
  constants,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ProgramFailed, ProgramMissing } from "@antiphon/programs/child-program.ts";
import { runGuarded } from "@antiphon/programs/guarded-child.ts";
import { withFileLock } from "../model/file-lock.ts";
import { buildFlags, buildFolderName, type Machine, progressOf } from "./build-plan.ts";

export interface BuiltServer {
  readonly program: string;
  /** Version of whisper.cpp; null if not known. */
  readonly version: string | null;
  /** Whether it can listen on a Unix socket. Otherwise it listens on a loopback port. */
  readonly opensSocket: boolean;
}

export interface BuildOptions {
  /** Each build has its own folder in here. */
  readonly folder: string;
  /** Called with the progress of the compiler, in percent; null while it is not known. */
  readonly onProgress: (percent: number | null) => void;
}

/** The engine cannot be built. The message is a sentence without a full stop. */
export class BuildError extends Error {
  override readonly name = "BuildError";
  /** Whether the machine lacks programs for the build. */
  readonly isMachineLacking: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isMachineLacking?: boolean } = {}) {
    super(message, options);
    this.isMachineLacking = options.isMachineLacking ?? false;
  }
}

interface Source {
  readonly folder: string;
  readonly packageVersion: string;
  readonly version: string | null;
}

const PROGRAM = "whisper-server";
/** Prefix of the temporary folders in which compilers work. */
const TREE_PREFIX = "building-";
const JOBS_MAX = 8;
const COMPLAINT_CHARACTERS_MAX = 600;

/** Folders inside the package `nodejs-whisper`. */
const SOURCE = "cpp/whisper.cpp";
const MODELS = "cpp/whisper.cpp/models";

/** The code that lets the server listen on a Unix socket, and the CMake file that adds it to the build. */
const SOCKET_HEADER = join(import.meta.dirname, "engine-socket.h");
const SOCKET_CMAKE = join(import.meta.dirname, "engine-socket.cmake");
/** A server built with that header prints `ANNOUNCEMENT` if this is in its environment. */
const ANNOUNCE = { ANTIPHON_ENGINE_ANNOUNCE: "1" };
const ANNOUNCEMENT = "listens on unix sockets";

/** The folder in which `nodejs-whisper` stores the models that it downloads. */
export function packageModelsFolder(): string {
  return join(packageFolder(), MODELS);
}

/**
 * The server program of whisper.cpp, built on the first call from the source in `nodejs-whisper`. The package itself is
 * not changed. If several processes call at once, one of them builds. Rejects with `BuildError` or the signal's reason.
 */
export async function builtServer({ folder, onProgress }: BuildOptions, signal: AbortSignal): Promise<BuiltServer> {
  const source = await findSource();
  const machine = await thisMachine();
  const additions = await Promise.all([SOCKET_HEADER, SOCKET_CMAKE].map((path) => readFile(path, "utf8")));
  const home = join(folder, buildFolderName(source.packageVersion, machine, additions.join("")));
  const server: BuiltServer = { program: join(home, PROGRAM), version: source.version, opensSocket: true };
  if (await isExecutable(server.program)) return server;
  onProgress(null);
  await mkdir(home, { recursive: true });
  await withFileLock(join(home, "build.lock"), signal, async () => {
    if (await isExecutable(server.program)) return;
    await build(source, buildFlags(machine), { program: server.program, onProgress, signal });
  });
  return server;
}

/** The folder of whisper.cpp's source and the CMake flags for this machine. Rejects with `BuildError`. */
export async function engineSource(): Promise<{ readonly source: string; readonly flags: readonly string[] }> {
  const [{ folder }, machine] = await Promise.all([findSource(), thisMachine()]);
  return { source: folder, flags: buildFlags(machine) };
}

/** Checks that a program is a whisper.cpp server. Rejects with `BuildError`. */
export async function checkServer(program: string, signal: AbortSignal): Promise<BuiltServer> {
  let output = "";
  const onOutput = (text: string): void => {
    output += text;
  };
  try {
    await runGuarded({ program, args: ["--help"], folder: "/", environment: ANNOUNCE, onOutput }, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new BuildError(`The speech engine ${program} does not run: ${failureReason(error)}`, { cause: error });
  }
  if (!output.includes("--request-path")) throw new BuildError(`${program} is not a whisper.cpp server, or is too old`);
  return { program, version: null, opensSocket: output.includes(ANNOUNCEMENT) };
}

interface BuildTask {
  readonly program: string;
  readonly onProgress: BuildOptions["onProgress"];
  readonly signal: AbortSignal;
}

async function build(source: Source, flags: readonly string[], task: BuildTask): Promise<void> {
  const { program, onProgress, signal } = task;
  await needPrograms(signal);
  await removeLeftovers(dirname(program));
  const tree = await mkdtemp(join(dirname(program), TREE_PREFIX));
  try {
    const withSocket = `-DCMAKE_PROJECT_whisper.cpp_INCLUDE=${SOCKET_CMAKE}`;
    await cmake(["-S", source.folder, "-B", tree, withSocket, ...flags], tree, { signal });
    const jobs = String(Math.min(JOBS_MAX, availableParallelism()));
    await cmake(["--build", tree, "--target", PROGRAM, "--parallel", jobs], tree, { signal, onProgress });
    const binary = join(tree, "bin", PROGRAM);
    await checkServer(binary, signal);
    await writeFile(join(dirname(program), "flags.txt"), `${flags.join("\n")}\n`);
    await copyFile(binary, `${program}.new`);
    await rename(`${program}.new`, program);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** Removes the temporary folders of killed builds. Must hold the build lock, so that no other build is running. */
async function removeLeftovers(folder: string): Promise<void> {
  const leftovers = (await readdir(folder)).filter((name) => name.startsWith(TREE_PREFIX));
  for (const name of leftovers) await rm(join(folder, name), { recursive: true, force: true });
}

interface CmakeOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: BuildOptions["onProgress"];
}

/** Runs CMake at low priority, so that the build does not slow down other programs. */
async function cmake(args: readonly string[], folder: string, { signal, onProgress }: CmakeOptions): Promise<void> {
  const onOutput = (text: string): void => {
    const percent = progressOf(text);
    if (percent !== null) onProgress?.(percent);
  };
  try {
    await runGuarded({ program: "nice", args: ["-n", "10", "cmake", ...args], folder, onOutput }, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new BuildError(`The speech engine could not be built: ${failureReason(error)}`, { cause: error });
  }
}

/** Checks for the needed programs first, because CMake reports a missing one in fifty lines. */
async function needPrograms(signal: AbortSignal): Promise<void> {
  const compilers = 'command -v c++ || command -v g++ || command -v clang++ || test -n "$CXX"';
  const needs = [
    { what: "cmake", test: "command -v cmake" },
    { what: "a C++ compiler", test: compilers },
    { what: "make or ninja", test: "command -v make || command -v gmake || command -v ninja" },
  ];
  const missing: string[] = [];
  for (const { what, test } of needs) if (!(await shellFinds(test, signal))) missing.push(what);
  if (missing.length > 0)
    throw new BuildError(
      `The speech engine has to be built once, which needs ${missing.join(" and ")}: ${await installAdvice(signal)}, or set WHISPER_SERVER_PATH to a whisper-server`,
      { isMachineLacking: true },
    );
}

/** Commands that install everything the build needs, each with the program that must exist to run it. */
const INSTALLERS = [
  { program: "apt-get", command: "apt-get install cmake make g++" },
  { program: "dnf", command: "dnf install cmake make gcc-c++" },
  { program: "apk", command: "apk add cmake make g++" },
  { program: "pacman", command: "pacman -S cmake make gcc" },
  { program: "brew", command: "xcode-select --install && brew install cmake" },
] as const;

async function installAdvice(signal: AbortSignal): Promise<string> {
  for (const { program, command } of INSTALLERS)
    if (await shellFinds(`command -v ${program}`, signal)) return `run '${command}' and start again`;
  return "install what is missing";
}

/** Whether a shell command succeeds. */
async function shellFinds(test: string, signal: AbortSignal): Promise<boolean> {
  try {
    await runGuarded({ program: "/bin/sh", args: ["-c", test], folder: "/" }, signal);
    return true;
  } catch (error) {
    if (error instanceof ProgramFailed || error instanceof ProgramMissing) return false;
    throw error;
  }
}

async function findSource(): Promise<Source> {
  try {
    const folder = packageFolder();
    const description = readJson(await readFile(join(folder, "package.json"), "utf8"));
    const packageVersion = isRecord(description) ? String(description["version"]) : "unknown";
    const lists = await readFile(join(folder, SOURCE, "CMakeLists.txt"), "utf8");
    const version = /project\("whisper\.cpp" VERSION ([\d.]+)\)/.exec(lists)?.[1] ?? null;
    return { folder: join(folder, SOURCE), packageVersion, version };
  } catch (error) {
    throw new BuildError("The package nodejs-whisper, which brings the speech engine's source, is not installed", {
      cause: error,
    });
  }
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve("nodejs-whisper/package.json"));
}

async function thisMachine(): Promise<Machine> {
  const text = await readFile("/proc/cpuinfo", "utf8").catch(() => "");
  const flags = /^flags\s*:(.*)$/m.exec(text)?.[1];
  return {
    platform: process.platform,
    architecture: process.arch,
    processorFlags: flags === undefined ? null : new Set(flags.trim().split(/\s+/)),
  };
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function failureReason(error: unknown): string {
  return error instanceof Error ? error.message.slice(-COMPLAINT_CHARACTERS_MAX) : "it exited";
}
