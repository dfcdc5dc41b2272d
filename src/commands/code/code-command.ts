import { existsSync } from "node:fs";
import { ProgramFailed, ProgramMissing } from "@antiphon/programs/child-program.ts";
import { findSystemPython } from "@antiphon/sandbox/engines/bubblewrap/bubblewrap-engine.ts";
import {
  type PreparedPython,
  preparePython,
  readPreparedPython,
} from "@antiphon/sandbox/engines/bubblewrap/prepared-python.ts";
import { DownloadError } from "@antiphon/speech/recognition/whisper/model/download.ts";
import { type Environment, loadConfig } from "../../config/load-config.ts";
import { preparedFolder, pyodideWheelsFolder } from "../../servers/choices/code/prepared-folder.ts";
import { MisusedCommand, readCommandArguments } from "../misused-command.ts";
import { IndexFailed } from "../packages/find-wheel-url.ts";
import { type ProgressOutput, progressBar, showLine } from "../speech-progress.ts";
import { CodeSetupError } from "./code-setup-error.ts";
import { fetchPyodideWheels, PYODIDE_WHEELS } from "./pyodide-wheels.ts";

const USAGE = `Usage: antiphon code setup [PACKAGE]... [--renew]
       antiphon code setup --pyodide [--renew]

Makes a Python with packages for the tools code_interpreter and shell, once, in the data folder. Servers with bubblewrap use it from their next start on. pip fetches the packages from the index of its own settings, such as PIP_INDEX_URL. Only wheels are taken, so that no code of a package runs. If it is interrupted, run it again: it goes on with what it has.
Packages: {packages}, and each PACKAGE, as pip reads it.
--pyodide fetches packages for servers whose code runs in Pyodide instead, which needs no Python: those that are pure Python ({pyodidePackages}). The package index has no others for Pyodide.
--renew makes it anew, with the newest packages. --data-dir locates the data, like the setting of the same name.`;

/** What analysts use, by names of the Python package index. */
export const ANALYST_PACKAGES: readonly string[] = (
  "numpy pandas matplotlib scipy sympy scikit-learn statsmodels seaborn networkx pillow openpyxl xlsxwriter xlrd " +
  "python-docx python-pptx pypdf reportlab lxml beautifulsoup4 pyyaml tabulate"
).split(" ");
/** Measured for these packages on x64: 126 MB of wheels, and 680 MB once they are unpacked. */
const DOWNLOAD_BYTES = 126e6;
const FOLDER_BYTES = 680e6;
const MEGABYTE = 1e6;
const PERCENT_MAX = 99;
const INDEX_URL = "https://pypi.org/simple";

/** The settings of pip, of proxies and of certificates. Its other variables may be secrets of the server. */
const FOR_PIP =
  /^(?:PIP_\w+|https?_proxy|no_proxy|all_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE|NETRC|XDG_CONFIG_\w+)$/i;
/** So that the users of sandboxes can read what pip writes. */
const READABLE_UMASK = 0o022;

interface Output {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  readonly progress: ProgressOutput;
}

/** Runs `code setup …`. Prints the folder. Throws `CodeSetupError`, `MisusedCommand` or the signal's reason. */
export async function runCodeCommand(
  argv: readonly string[],
  environment: Environment,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  const { values, positionals } = readCommandArguments(argv, OPTIONS, codeMisuse);
  if (values.help === true) return output.print(usage());
  const [what, ...more] = positionals;
  if (what !== "setup") throw codeMisuse("code needs the word setup.");
  if (values.pyodide === true && more.length > 0) throw codeMisuse("--pyodide takes no packages.");
  const option = more.find((name) => name.startsWith("-"));
  if (option !== undefined) throw codeMisuse(`${option} is no package.`);
  const dataDir = values["data-dir"];
  const config = loadConfig(environment, dataDir === undefined ? [] : ["--data-dir", dataDir]);
  if (values.pyodide === true) {
    const folder = pyodideWheelsFolder(config.dataDir);
    await setUpPyodide({ folder, isRenewed: values.renew === true }, environment, output, signal);
    return output.print(folder);
  }
  if (config.codePython !== null)
    throw new CodeSetupError(
      "CODE_PYTHON names the Python that runs code, and it is used as it is. Remove this setting, so that the server uses the Python that this command makes.",
    );
  const folder = preparedFolder(config.dataDir);
  const old = await readPreparedPython(folder);
  if (old !== null && values.renew !== true && more.length === 0) {
    output.note(`There is a Python ${old.version} with packages. --renew makes it anew.`);
    return output.print(old.folder);
  }
  output.print((await setUp({ folder, packages: [...ANALYST_PACKAGES, ...more] }, environment, output, signal)).folder);
}

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  renew: { type: "boolean" },
  pyodide: { type: "boolean" },
  "data-dir": { type: "string" },
} as const;

async function setUp(
  { folder, packages }: { readonly folder: string; readonly packages: readonly string[] },
  environment: Environment,
  { note, progress }: Output,
  signal: AbortSignal,
): Promise<PreparedPython> {
  const base = await findSystemPython();
  if (base === null)
    throw new CodeSetupError(
      "Python 3 is not installed. On Debian: apt-get install python3 python3-pip. Without it: antiphon code setup --pyodide",
    );
  note(
    `Python packages for code: about ${DOWNLOAD_BYTES / MEGABYTE} MB to download, ${FOLDER_BYTES / MEGABYTE} MB in ${folder}.`,
  );
  process.umask(READABLE_UMASK);
  const onBytes = (bytes: number): void => {
    const percent = Math.min(PERCENT_MAX, Math.floor((bytes / DOWNLOAD_BYTES) * 100));
    showLine(progress, `Downloading packages  ${progressBar(percent)}  ${Math.round(bytes / MEGABYTE)} MB`, false);
  };
  try {
    await preparePython({ folder, base, packages, environment: pipEnvironment(environment), onBytes }, signal);
  } catch (error) {
    if (error instanceof ProgramFailed || error instanceof ProgramMissing) throw setupError(error);
    throw error;
  }
  const prepared = await readPreparedPython(folder);
  if (prepared === null) throw new CodeSetupError(`There is no Python in ${folder}, though it was made.`);
  showLine(progress, `Python ${prepared.version} with ${packages.length} packages is ready`, true);
  return prepared;
}

async function setUpPyodide(
  { folder, isRenewed }: { readonly folder: string; readonly isRenewed: boolean },
  environment: Environment,
  { note, progress }: Output,
  signal: AbortSignal,
): Promise<void> {
  if (existsSync(folder) && !isRenewed) return note("There are packages for Pyodide. --renew fetches them anew.");
  const total = PYODIDE_WHEELS.reduce((sum, { bytes }) => sum + bytes, 0);
  note(`Packages for Pyodide: ${Math.round(total / MEGABYTE)} MB to download, into ${folder}.`);
  const onBytes = (bytes: number): void => {
    const bar = progressBar(Math.min(PERCENT_MAX, Math.floor((bytes / total) * 100)));
    showLine(progress, `Downloading packages  ${bar}  ${Math.round(bytes / MEGABYTE)} MB`, false);
  };
  const indexUrl = environment["PIP_INDEX_URL"] ?? INDEX_URL;
  try {
    await fetchPyodideWheels({ wheels: PYODIDE_WHEELS, indexUrl, folder, onBytes }, signal);
  } catch (error) {
    if (!(error instanceof IndexFailed || error instanceof DownloadError)) throw error;
    throw new CodeSetupError(`The packages could not be fetched: ${error.message}.`, { cause: error });
  }
  showLine(progress, `${PYODIDE_WHEELS.length} packages for Pyodide are ready`, true);
}

function setupError(error: Error): CodeSetupError {
  const help = /No module named pip/.test(error.message) ? " On Debian: apt-get install python3-pip" : "";
  const message = error.message.replaceAll(/(\w+:\/\/)[^\s/@]+@/g, "$1");
  return new CodeSetupError(`No Python was made. ${message}.${help}`, { cause: error });
}

function pipEnvironment(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && FOR_PIP.test(name) ? [[name, value]] : [],
    ),
  );
}

function usage(): string {
  const pyodidePackages = PYODIDE_WHEELS.map(({ file }) => file.slice(0, file.indexOf("-")));
  return USAGE.replace("{packages}", ANALYST_PACKAGES.join(", ")).replace(
    "{pyodidePackages}",
    pyodidePackages.join(", "),
  );
}

function codeMisuse(problem: string): MisusedCommand {
  return new MisusedCommand(problem, usage());
}
