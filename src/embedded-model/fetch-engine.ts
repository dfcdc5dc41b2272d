import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ProgramFailed, ProgramMissing } from "@antiphon/programs/child-program.ts";
import { runGuarded } from "@antiphon/programs/guarded-child.ts";
import { withFileLock } from "@antiphon/speech/recognition/whisper/model/file-lock.ts";
import { ENGINE_PACKAGE, ENGINE_VERSION, engineState, platformPackage } from "./engine-folder.ts";

/** The engine cannot be fetched. The message is a sentence without a full stop. */
export class EngineNotFetched extends Error {
  override readonly name = "EngineNotFetched";
}

/** What is fetched and what of it stays on the disk, in bytes: for those who are asked. */
export const ENGINE_SIZES = { fetchedBytes: 49_000_000, storedBytes: 51_000_000 } as const;

/** The packages of the engine with their checksums, in npm's form of a lock, for all platforms. */
const LOCK = new URL("./engine-lock.json", import.meta.url);

/** In the folder itself: the user of a service may have no home that can be written to. */
const NPM_CACHE = ".npm-cache";

/** The package with the binaries is added as one that is needed: npm would fetch those for graphics cards, too. */
const NPM_ARGS = [
  "ci",
  "--omit=optional",
  "--omit=dev",
  "--omit=peer",
  "--ignore-scripts",
  `--cache=${NPM_CACHE}`,
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
  "--no-progress",
];
/** Where npm puts the binaries of each platform. */
const BINARIES = "node_modules/@node-llama-cpp/";
/** A history of llama.cpp's source, for building it: 34 MB that nobody reads here. */
const UNUSED = [`node_modules/${ENGINE_PACKAGE}/llama/gitRelease.bundle`];

/**
 * Fetches the engine into a folder by npm, which checks each package by its checksum. Nothing is done if it is there.
 * Rejects with `EngineNotFetched` or the signal's reason; then the folder is as before.
 */
export async function fetchEngine(
  folder: string,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const platform = platformPackage();
  if (platform === null)
    throw new EngineNotFetched(`There is no engine for this system (${process.platform}, ${process.arch})`);
  await mkdir(dirname(folder), { recursive: true });
  await withFileLock(`${folder}.lock`, signal, async () => {
    if (engineState(folder) === "ready") return; // Another process was faster.
    const part = `${folder}.part`;
    await rm(part, { recursive: true, force: true });
    await mkdir(part);
    await writeManifests(part, platform);
    await runNpm(part, environment, signal);
    await rm(join(part, NPM_CACHE), { recursive: true, force: true });
    for (const path of UNUSED) await rm(join(part, path), { force: true });
    await rm(folder, { recursive: true, force: true });
    await rename(part, folder);
  });
}

async function writeManifests(folder: string, platform: string): Promise<void> {
  const lock = readJson(await readFile(LOCK, "utf8"));
  const packages = isRecord(lock) && isRecord(lock["packages"]) ? lock["packages"] : {};
  const { "": root, [`node_modules/${platform}`]: binaries, ...others } = packages;
  if (!isRecord(lock) || !isRecord(root) || !isRecord(binaries))
    throw new EngineNotFetched(`${platform} is not locked`);
  const { optional: _, ...binariesEntry } = binaries;
  const common = Object.entries(others).filter(([path]) => !path.startsWith(BINARIES));
  const dependencies = { [ENGINE_PACKAGE]: ENGINE_VERSION, [platform]: ENGINE_VERSION };
  const whole = {
    ...lock,
    packages: {
      "": { ...root, dependencies },
      [`node_modules/${platform}`]: binariesEntry,
      ...Object.fromEntries(common),
    },
  };
  const { name, version } = root;
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name, version, private: true, dependencies }, null, 2),
  );
  await writeFile(join(folder, "package-lock.json"), JSON.stringify(whole, null, 2));
}

async function runNpm(
  folder: string,
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await runGuarded({ program: "npm", args: NPM_ARGS, folder, environment }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProgramMissing)
      throw new EngineNotFetched("npm, which fetches the engine, is not installed", { cause: error });
    if (error instanceof ProgramFailed) throw new EngineNotFetched(npmText(error.message), { cause: error });
    throw error;
  }
}

/** npm's own words without its advice on log files. */
function npmText(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !line.includes("A complete log"));
  return lines.slice(0, NPM_LINES_SHOWN).join(" ").slice(0, NPM_CHARACTERS_MAX);
}

const NPM_LINES_SHOWN = 4;
const NPM_CHARACTERS_MAX = 600;
