import { parseArgs, styleText } from "node:util";
import { silentLogger } from "../base/logger.ts";
import { ConfigError } from "../config/config-error.ts";
import { type Environment, loadConfig } from "../config/load-config.ts";
import { type Examination, examineServer, type Verdict } from "../model-engines/probing/examine-server.ts";
import { chooseModel } from "../servers/choices/choose-model.ts";

const USAGE = `Usage: antiphon doctor [URL] [--model NAME] [--all] [--json]

Asks a model server, such as http://127.0.0.1:11434/v1, a few short questions, and tells what of a request it honours, what Antiphon emulates, what has no effect and what is refused, and why. Without a URL it asks the server of MODEL_BASE_URL, or Ollama on this machine. The key is MODEL_API_KEY, from the environment or .env.
--all shows every field of a request; --json prints everything as JSON.

It exits with 0 if the server answers, with 1 if it does not, and with 2 for arguments that it does not understand.`;

const ANSWERS_EXIT_CODE = 0;
const NO_ANSWER_EXIT_CODE = 1;
const USAGE_EXIT_CODE = 2;

const MARKS: Readonly<Record<Verdict, readonly [string, Parameters<typeof styleText>[0]]>> = {
  honoured: ["✓", "green"],
  emulated: ["≈", "cyan"],
  ignored: ["·", "yellow"],
  refused: ["✗", "red"],
  unknown: ["?", "magenta"],
};

interface Output {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  /** Whether what is printed may have colour. */
  readonly isTerminal: boolean;
}

/** Runs `doctor …` and returns its exit code. */
export async function runDoctor(argv: readonly string[], environment: Environment, output: Output): Promise<number> {
  const read = readArguments(argv);
  if (typeof read === "string") {
    output.note(`${read}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  const { values, positionals } = read;
  if (values.help === true) {
    output.print(USAGE);
    return ANSWERS_EXIT_CODE;
  }
  const server = positionals[0] === undefined ? {} : { MODEL_BASE_URL: positionals[0] };
  const config = loadConfig({ ...environment, ...server, SCENARIO_FILE: "" }, []);
  const chosen = await chooseModel(config, silentLogger);
  if (chosen.kind === "built-in")
    throw new ConfigError(["There is no model server to ask. Name its URL, or set MODEL_BASE_URL."]);
  const signal = new AbortController().signal;
  if (values.json !== true) output.note(`Asking ${chosen.description} …`);
  const found = await examineServer(chosen.engine, { model: values.model ?? null, signal });
  if (values.json === true) output.print(JSON.stringify({ server: chosen.baseUrl, ...found }, null, 2));
  else
    for (const line of report(found, { ...values, hasColors: output.isTerminal && config.hasColors }))
      output.print(line);
  return answers(found) ? ANSWERS_EXIT_CODE : NO_ANSWER_EXIT_CODE;
}

/** Whether its plain answer arrived, with which a server can be used. */
function answers({ findings }: Examination): boolean {
  return findings.some(({ name, verdict }) => name === "an answer" && verdict === "honoured");
}

function report(
  found: Examination,
  { all = false, hasColors }: { readonly all?: boolean; readonly hasColors: boolean },
): readonly string[] {
  const line = (verdict: Verdict, name: string, why: string | null): string => {
    const [mark, color] = MARKS[verdict];
    const shown = `${mark} ${verdict.padEnd(9)}`;
    const painted = hasColors ? styleText(color, shown, { validateStream: false }) : shown;
    return `  ${painted} ${name.padEnd(NAME_CHARACTERS)}${why === null ? "" : ` ${why}`}`.trimEnd();
  };
  const fields = found.fields.filter(({ probe, verdict }) => all || (probe !== null && verdict !== "unknown"));
  const isUsable = answers(found);
  return [
    `Model: ${found.model === "" ? "none; name one with --model" : found.model} (of ${found.models.length} listed)`,
    "",
    "What the server does",
    ...found.findings.map(({ name, verdict, why, ms }) => line(verdict, name, why ?? `${ms} ms`)),
    ...(fields.length === 0
      ? []
      : ["", `Fields of a request${all ? "" : " (--all shows those that were not tried, too)"}`]),
    ...fields.map(({ field, verdict, why }) => line(verdict, field, why)),
    "",
    isUsable ? "The server can be used: MODEL_BASE_URL." : "The server cannot be used: it gave no answer.",
  ];
}

const NAME_CHARACTERS = 28;

function readArguments(argv: readonly string[]): ReturnType<typeof parse> | string {
  try {
    const read = parse(argv);
    if (read.positionals.length > 1) return "It asks one server.";
    const [url] = read.positionals;
    return url === undefined || /^https?:\/\//.test(url) ? read : `'${url}' is no http or https URL.`;
  } catch (error) {
    return error instanceof Error ? error.message : "The arguments cannot be read.";
  }
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    options: {
      help: { type: "boolean", short: "h" },
      model: { type: "string" },
      all: { type: "boolean" },
      json: { type: "boolean" },
    },
    allowPositionals: true,
    strict: true,
  });
}
