import { parseArgs, styleText } from "node:util";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ConfigError } from "../config/config-error.ts";
import { type Environment, loadConfig } from "../config/load-config.ts";
import { examineRetrieval } from "../model-engines/probing/examine-retrieval.ts";
import { type Examination, examineServer } from "../model-engines/probing/examine-server.ts";
import type { Finding, Verdict } from "../model-engines/probing/finding.ts";
import { searchText } from "../servers/choices/choose-embedder.ts";
import { chooseModel } from "../servers/choices/choose-model.ts";
import type { ModelServers } from "../servers/choices/choose-model-servers.ts";
import { argumentFault } from "./misused-command.ts";

const USAGE = `Usage: antiphon doctor [URL] [--model NAME] [--all] [--json]

Sends a few short requests to a model server, such as http://127.0.0.1:11434/v1. Reports which fields of a request the server honours, which Antiphon emulates, which have no effect and which are refused, and why. A model without answers is tried for embeddings and ranks. Without a URL, it examines all servers of MODELS_FILE, by what their models are for, or the server of MODEL_BASE_URL, or Ollama on this machine. The key is MODEL_API_KEY, from the environment or .env.
--all shows every field of a request; --json prints everything as JSON.

Exit codes: 0 if every server answers, 1 if one does not, 2 for invalid arguments.`;

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
  /** Whether the output may have colour. */
  readonly isTerminal: boolean;
}

interface ReportWishes extends Output {
  readonly all?: boolean;
  readonly json?: boolean;
  readonly hasColors: boolean;
}

/** Runs `doctor …` and returns its exit code. */
export async function runDoctor(argv: readonly string[], environment: Environment, output: Output): Promise<number> {
  const read = readDoctorArguments(argv);
  if (typeof read === "string") {
    output.note(`${read}\n\n${USAGE}`);
    return USAGE_EXIT_CODE;
  }
  const { values, positionals } = read;
  if (values.help === true) {
    output.print(USAGE);
    return ANSWERS_EXIT_CODE;
  }
  const server = positionals[0] === undefined ? {} : { MODEL_BASE_URL: positionals[0], MODELS_FILE: "" };
  const config = loadConfig({ ...environment, ...server, SCENARIO_FILE: "" }, []);
  const choice = await chooseModel(config, silentLogger);
  const wishes = { ...values, ...output, hasColors: config.hasColors };
  if (values.json !== true) output.note(`Vector stores are searched ${searchText(config)}.`);
  if (choice.servers !== null) return await examineAll(choice.servers, values.model ?? null, wishes);
  if (choice.kindOf("") === "built-in")
    throw new ConfigError(["There is no model server to examine. Name its URL, or set MODEL_BASE_URL."]);
  const signal = new AbortController().signal;
  if (values.json !== true) output.note(`Examining ${choice.description} …`);
  const request = { model: values.model ?? null, signal };
  const examination =
    values.json === true
      ? await examineServer(choice.engine, request)
      : await printReport(choice.engine, request, wishes);
  if (values.json === true) output.print(JSON.stringify({ server: choice.baseUrl, ...examination }, null, 2));
  return isUsable(examination) ? ANSWERS_EXIT_CODE : NO_ANSWER_EXIT_CODE;
}

/**
 * Examines every server of `MODELS_FILE`, one after the other: by the first model for answers that leads to it, and by
 * each of its models for embeddings and ranks.
 */
async function examineAll(servers: ModelServers, chosenModel: string | null, wishes: ReportWishes): Promise<number> {
  const { signal } = new AbortController();
  const reports: object[] = [];
  let haveAllAnswered = true;
  for (const { name, engine, kind } of servers.table.servers) {
    if (wishes.json !== true) wishes.print(`${reports.length === 0 ? "" : "\n"}Server ${name}`);
    const models = servers.modelsAt(name);
    const others = chosenModel === null ? models.filter(isForRetrieval) : [];
    if (others.length === 0 || others.length < models.length) {
      const model = chosenModel ?? models.find(({ what }) => what === "answers")?.model ?? null;
      const request = { model, kind, signal };
      const examination =
        wishes.json === true ? await examineServer(engine, request) : await printReport(engine, request, wishes);
      reports.push({ server: name, ...examination });
      haveAllAnswered &&= isUsable(examination);
    }
    for (const { model, what } of others) {
      const finding = await examineRetrieval(engine, { model, what, signal });
      if (wishes.json !== true) wishes.print(findingLine(finding, wishes));
      reports.push({ server: name, model, findings: [finding] });
      haveAllAnswered &&= finding.verdict === "honoured";
    }
  }
  if (wishes.json === true) wishes.print(JSON.stringify(reports, null, 2));
  return haveAllAnswered ? ANSWERS_EXIT_CODE : NO_ANSWER_EXIT_CODE;
}

type ModelAt = ReturnType<ModelServers["modelsAt"]>[number];

function isForRetrieval(entry: ModelAt): entry is ModelAt & { readonly what: "embeddings" | "ranks" } {
  return entry.what !== "answers";
}

/** Whether the server answers a plain request, the minimum for using it. */
function answers({ findings }: Examination): boolean {
  return findings.some(({ name, verdict }) => name === "an answer" && verdict === "honoured");
}

function isUsable(examination: Examination): boolean {
  return answers(examination) || retrieves(examination);
}

/** Whether its model embeds or ranks. */
function retrieves({ findings, model }: Examination): boolean {
  return findings.some(
    ({ name, verdict }) => verdict === "honoured" && RETRIEVALS.some((what) => name === `${what} of ${model}`),
  );
}

const RETRIEVALS = ["embeddings", "ranks"] as const;

/** Prints each finding as it comes, and at the end how fields of a request are treated. */
async function printReport(
  engine: ModelEngine,
  request: Parameters<typeof examineServer>[1],
  { all = false, print, isTerminal, hasColors }: ReportWishes,
): Promise<Examination> {
  const line = (verdict: Verdict, name: string, why: string | null): void =>
    print(lineOf(verdict, name, why, isTerminal && hasColors));
  const examination = await examineServer(engine, request, {
    began: ({ model, models }) => {
      const listing = models.length === 1 ? "1 is listed" : `${models.length} are listed`;
      if (model !== "") print(`Model: ${model} (${listing}; --model chooses)\n`);
      print("What the server does");
    },
    onFinding: ({ name, verdict, why, ms }) => line(verdict, name, why ?? `${ms} ms`),
  });
  const fields = answers(examination) ? examination.fields.filter(({ probe }) => all || probe !== null) : [];
  if (fields.length > 0) print(`\nFields of a request${all ? "" : " (--all shows those that were not tried, too)"}`);
  for (const { field, verdict, why } of fields) line(verdict, field, why);
  print(`\n${conclusion(examination)}`);
  return examination;
}

function conclusion(examination: Examination): string {
  if (answers(examination)) return "The server can be used: set MODEL_BASE_URL to its URL.";
  if (retrieves(examination))
    return "The server can be used for embeddings or ranks, by a model of MODELS_FILE, but it gave no answer.";
  const hint = "Check its URL, which usually ends in /v1, and its key.";
  if (examination.model === "") return `The server cannot be used: it names no model. ${hint} --model names one.`;
  return `The server cannot be used: it gave no answer. ${hint}\nRequests go to /chat/completions below that URL. A server of the Responses API, such as Antiphon, needs no Antiphon in front.`;
}

function findingLine({ verdict, name, why, ms }: Finding, { isTerminal, hasColors }: ReportWishes): string {
  return lineOf(verdict, name, why ?? `${ms} ms`, isTerminal && hasColors);
}

function lineOf(verdict: Verdict, name: string, why: string | null, hasColors: boolean): string {
  const [mark, color] = MARKS[verdict];
  const text = `${mark} ${verdict.padEnd(VERDICT_CHARACTERS)}`;
  const label = hasColors ? styleText(color, text, { validateStream: false }) : text;
  return `  ${label} ${name.padEnd(NAME_CHARACTERS)}${why === null ? "" : ` ${why}`}`.trimEnd();
}

const VERDICT_CHARACTERS = 9;
const NAME_CHARACTERS = 28;

function readDoctorArguments(argv: readonly string[]): ReturnType<typeof parse> | string {
  try {
    const read = parse(argv);
    if (read.positionals.length > 1) return "doctor examines one server.";
    const [url] = read.positionals;
    return url === undefined || /^https?:\/\//.test(url) ? read : `'${url}' is not an http or https URL.`;
  } catch (error) {
    return argumentFault(error);
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
