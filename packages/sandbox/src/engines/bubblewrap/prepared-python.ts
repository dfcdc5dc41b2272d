import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ProgramFailed, runProgram } from "@antiphon/programs/child-program.ts";

/** A Python with packages of its own, made by `preparePython`. */
export interface PreparedPython {
  /** Absolute path of its virtual environment. */
  readonly folder: string;
  /** Absolute path of the Python that it was made from. */
  readonly base: string;
  /** The version of that Python at the time, such as `3.13`. */
  readonly version: string;
}

export interface PythonPlan {
  /** Absolute path of the folder for the environment, its parts and the cache of downloads. */
  readonly folder: string;
  /** Absolute path of a Python 3 with pip. */
  readonly base: string;
  /** Requirements as pip reads them, such as `numpy` or `pandas<4`. */
  readonly packages: readonly string[];
  /** The certificates, proxies and settings of pip. */
  readonly environment: Readonly<Record<string, string>>;
  /** Called with the bytes of all packages found so far, downloaded or cached. */
  readonly onBytes: (bytes: number) => void;
}

const READY = "ready";
const PARTIAL = /^partial-(\d+)$/;
const FACTS = "antiphon.json";
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
const LINE_CHARACTERS_MAX = 10_000;
const READABLE_FOLDER = 0o755;
/** The line of pip for each package, such as `Downloading numpy-2.4.6-….whl (16.9 MB)`. */
const FOUND_PACKAGE = /^\s*(?:Downloading|Using cached) \S+ \((\d+(?:\.\d+)?) (bytes|kB|MB|GB)\)/;
const UNITS: Readonly<Record<string, number>> = { bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
const PYTHON_FACTS =
  "import sys, sysconfig; print('%d.%d' % sys.version_info[:2]); print(sysconfig.get_path('purelib'))";

/** The environment that `preparePython` made in `folder`; null if there is none. */
export async function readPreparedPython(folder: string): Promise<PreparedPython | null> {
  const ready = join(folder, READY);
  const text = await readFile(join(ready, FACTS), "utf8").catch(() => null);
  const facts = text === null ? null : jsonOrUndefined(text);
  const version = isRecord(facts) ? facts["python"] : null;
  if (typeof version !== "string") return null;
  const base = await realpath(join(ready, "bin/python3")).catch(() => null);
  return base === null ? null : { folder: ready, base, version };
}

/**
 * Makes a virtual environment with these packages, as wheels only: no code of a package runs. It replaces an older one
 * when it is whole. Downloads are cached, so that a second try goes on. Rejects with `ProgramFailed`, `ProgramMissing`,
 * or the signal's reason.
 */
export async function preparePython(plan: PythonPlan, signal: AbortSignal): Promise<void> {
  await mkdir(plan.folder, { recursive: true, mode: READABLE_FOLDER });
  await removeLeftovers(plan.folder);
  const partial = join(plan.folder, `partial-${process.pid}`);
  try {
    await run(plan.base, ["-m", "venv", "--without-pip", join(partial, "python")], plan, signal);
    const program = join(partial, "python/bin/python3");
    const [version = "", site = ""] = (await run(program, ["-I", "-c", PYTHON_FACTS], plan, signal)).split("\n");
    await installPackages(plan, { partial, site }, signal);
    await writeFile(join(partial, "python", FACTS), JSON.stringify({ python: version, packages: plan.packages }));
    await replaceFolder(join(partial, "python"), join(plan.folder, READY), join(partial, "old"));
    await rm(join(plan.folder, "cache"), { recursive: true, force: true });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function installPackages(
  plan: PythonPlan,
  { partial, site }: { readonly partial: string; readonly site: string },
  signal: AbortSignal,
): Promise<void> {
  const temporary = join(partial, "tmp");
  await mkdir(temporary);
  const choices = [
    "--only-binary=:all:",
    "--no-user",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar=off",
  ];
  const places = ["--cache-dir", join(plan.folder, "cache"), "--target", site];
  const environment = { ...plan.environment, TMPDIR: temporary, PYTHONUNBUFFERED: "1" };
  await run(
    plan.base,
    ["-m", "pip", "install", ...choices, ...places, ...plan.packages],
    { ...plan, environment },
    signal,
  );
}

/** Runs a program to its end, and returns what it printed. */
async function run(
  program: string,
  args: readonly string[],
  { environment, onBytes }: Pick<PythonPlan, "environment" | "onBytes">,
  signal: AbortSignal,
): Promise<string> {
  const call = { program, args, environment, input: [], signal, timeoutMs: null, outputBytesMax: OUTPUT_BYTES_MAX };
  const decoder = new TextDecoder();
  let printout = "";
  let rest = "";
  let bytes = 0;
  for await (const chunk of runProgram(call)) {
    const text = decoder.decode(chunk, { stream: true });
    printout += text;
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(-LINE_CHARACTERS_MAX);
    for (const line of lines) {
      const [, size, unit = ""] = FOUND_PACKAGE.exec(line) ?? [];
      if (size === undefined) continue;
      bytes += Number(size) * (UNITS[unit] ?? 0);
      onBytes(bytes);
    }
  }
  signal.throwIfAborted();
  return printout;
}

/** Parts of runs that were killed. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, id] = PARTIAL.exec(name) ?? [];
    if (id === undefined) continue;
    if (Number(id) !== process.pid && isAlive(Number(id)))
      throw new ProgramFailed(`Process ${id} is at work in ${folder} already`);
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

async function replaceFolder(from: string, to: string, old: string): Promise<void> {
  await rename(to, old).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  });
  await rename(from, to);
}
