import { createInterface } from "node:readline/promises";
import { MemberMissing } from "@antiphon/media/office/unpack-member.ts";
import { inheritedEnvironment } from "@antiphon/programs/inherited-environment.ts";
import { DownloadError } from "@antiphon/speech/recognition/whisper/model/download.ts";
import { type Config, type Environment, loadConfig } from "../../config/load-config.ts";
import { ENGINE_PACKAGE, ENGINE_VERSION, engineState } from "../../embedded-model/engine-folder.ts";
import { ENGINE_SIZES, EngineNotFetched, fetchEngine } from "../../embedded-model/fetch-engine.ts";
import { languageModelFolder, modelEngineFolder } from "../../servers/choices/choose-model-file.ts";
import { MisusedCommand, readCommandArguments } from "../misused-command.ts";
import { IndexFailed } from "../packages/find-wheel-url.ts";
import { type FetchOutput, megabytesText } from "../packages/progress-line.ts";
import { fetchModel, ModelNotFetched, type WantedModel, wantedModel } from "./wanted-model.ts";

const USAGE = `Usage: antiphon pull [NAME|URL|FILE|engine] [--sha256 HEX] [--yes]

Fetches a language model that this server then runs itself, and the engine for it, into DATA_DIR/language-model. Shows sizes, licences and sources first, and asks. Interrupted downloads continue.

NAME    a known model: SmolLM2-135M-Instruct, also if nothing is named
URL     the address of any model in the format GGUF; --sha256 is needed
FILE    a GGUF file of this machine, which is linked or copied
engine  only the engine, for MODEL_FILE

--sha256 HEX   the checksum that the file must have
--yes          do not ask

Exit codes: 0 if everything is there, 1 if something could not be fetched or was not wanted, 2 for invalid arguments.`;

const ENGINE_WORD = "engine";
const SHA256 = /^[0-9a-f]{64}$/i;

/** Where answers are typed. */
type QuestionInput = NodeJS.ReadableStream & { readonly isTTY?: boolean };

export interface PullOutput {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  readonly progress: FetchOutput;
  readonly input: QuestionInput;
}

/** Runs `pull …` and returns its exit code. Throws `MisusedCommand` and `ConfigError`. */
export async function runPullCommand(
  argv: readonly string[],
  environment: Environment,
  output: PullOutput,
  signal: AbortSignal,
): Promise<number> {
  const misuse = (problem: string): MisusedCommand => new MisusedCommand(problem, USAGE);
  const { values, positionals } = readCommandArguments(
    argv,
    { help: { type: "boolean", short: "h" }, yes: { type: "boolean", short: "y" }, sha256: { type: "string" } },
    misuse,
  );
  if (values.help === true) {
    output.print(USAGE);
    return 0;
  }
  if (positionals.length > 1) throw misuse("pull takes one name, address or file.");
  const { sha256 = null, yes = false } = values;
  if (sha256 !== null && !SHA256.test(sha256)) throw misuse("--sha256 takes 64 hexadecimal digits.");
  const [what = null] = positionals;
  const wish = what === ENGINE_WORD ? null : wantedModel(what, sha256?.toLowerCase() ?? null, misuse);
  try {
    return await pull({ config: loadConfig(environment, []), wish, isSure: yes, environment }, output, signal);
  } catch (error) {
    if (!isFetchFailure(error)) throw error;
    output.note(`${error.message}. Nothing half is used; run it again to go on.`);
    return 1;
  }
}

function isFetchFailure(error: unknown): error is Error {
  return [DownloadError, MemberMissing, IndexFailed, EngineNotFetched, ModelNotFetched].some(
    (failure) => error instanceof failure,
  );
}

interface Wish {
  readonly config: Config;
  /** Null for the engine alone. */
  readonly wish: WantedModel | null;
  readonly isSure: boolean;
  readonly environment: Environment;
}

async function pull(
  { config, wish, isSure, environment }: Wish,
  output: PullOutput,
  signal: AbortSignal,
): Promise<number> {
  const engineFolder = modelEngineFolder(config);
  const needsEngine = engineState(engineFolder) !== "ready";
  if (wish !== null) output.print(wish.description);
  if (needsEngine) output.print(engineText(engineFolder));
  if (wish === null && !needsEngine) output.print(`The engine is there already: ${engineFolder}`);
  if (wish === null && !needsEngine) return 0;
  output.print(`They go to ${languageModelFolder(config)}.`);
  if (!isSure && !(await askYes("Fetch this?", output, signal))) {
    output.note("Nothing was fetched. --yes fetches without asking.");
    return 1;
  }
  if (needsEngine) {
    output.note("Fetching the engine by npm …");
    await fetchEngine(engineFolder, engineEnvironment(environment), signal);
    output.print("The engine is there; npm has checked its packages.");
  }
  if (wish === null) return 0;
  const model = await fetchModel(wish, config, { progress: output.progress, signal });
  output.print(
    `${model.name} is there: SHA-256 ${model.sha256}${model.isChecked ? ", as expected" : ", not checked"}.`,
  );
  output.print("Start Antiphon again: it answers by this model if no other is configured or found on this machine.");
  return 0;
}

function engineText(folder: string): string {
  const { fetchedBytes, storedBytes } = ENGINE_SIZES;
  return [
    `The engine ${ENGINE_PACKAGE} ${ENGINE_VERSION}, which runs models on this machine`,
    `  from      npm, ${megabytesText(fetchedBytes)} MB to fetch, ${megabytesText(storedBytes)} MB on the disk`,
    "  licence   MIT",
    `  folder    ${folder}`,
  ].join("\n");
}

/** Asks a person. False without a terminal. */
async function askYes(
  question: string,
  { input, progress }: { readonly input: QuestionInput; readonly progress: FetchOutput },
  signal: AbortSignal,
): Promise<boolean> {
  if (input.isTTY !== true) return false;
  const asking = createInterface({ input });
  progress.write(`${question} [y/N] `);
  try {
    const answer = await asking.question("", { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    asking.close();
  }
}

/** Variables by which npm finds its registry, a proxy and certificates. */
const OF_NPM = /^(npm_config_.*|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;

/** The environment of npm: what programs get anyway, and what it needs to reach its registry. */
function engineEnvironment(environment: Environment): Record<string, string> {
  const forNpm = Object.entries(environment).filter((entry): entry is [string, string] => {
    return OF_NPM.test(entry[0]) && entry[1] !== undefined;
  });
  return { ...inheritedEnvironment(), ...Object.fromEntries(forNpm) };
}
