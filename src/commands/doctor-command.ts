import { parseArgs, styleText } from "node:util";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { ConfigError } from "../config/config-error.ts";
import { type Config, type Environment, loadConfig } from "../config/load-config.ts";
import { examineRetrieval } from "../model-engines/probing/examine-retrieval.ts";
import { type Examination, examineServer } from "../model-engines/probing/examine-server.ts";
import type { Finding, Verdict } from "../model-engines/probing/finding.ts";
import { searchText } from "../servers/choices/choose-embedder.ts";
import { chooseModel } from "../servers/choices/choose-model.ts";
import type { ModelServers } from "../servers/choices/choose-model-servers.ts";
import { examineMcpServers, type McpExamination } from "./mcp/examine-mcp-servers.ts";
import { argumentFault } from "./misused-command.ts";

const USAGE = `Usage: antiphon doctor [URL] [--model NAME] [--all] [--json]

Sends a few short requests to a model server, such as http://127.0.0.1:11434/v1. Reports which fields of a request the server honours, which Antiphon emulates, which have no effect and which are refused, and why. A model without answers is tried for embeddings and ranks. Without a URL, it examines all servers of MODELS_FILE, by what their models are for, or the server of MODEL_BASE_URL, or Ollama on this machine; and it connects to each MCP server of MCP_SERVERS_FILE and lists its tools. The key is MODEL_API_KEY, from the environment or .env.
--all shows every field of a request; --json prints everything as JSON.

Exit codes: 0 if every server answers, MCP servers among them, 1 if one does not, 2 for invalid arguments.`;

const ANSWERS_EXIT_CODE = 0;
const NO_ANSWER_EXIT_CODE = 1;
const USAGE_EXIT_CODE = 2;

const MARKS: Readonly<Record<Verdict | McpExamination["verdict"], readonly [string, Parameters<typeof styleText>[0]]>> =
  {
    honoured: ["✓", "green"],
    emulated: ["≈", "cyan"],
    ignored: ["·", "yellow"],
    refused: ["✗", "red"],
    unknown: ["?", "magenta"],
    works: ["✓", "green"],
    fails: ["✗", "red"],
  };

interface Output {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  /** Whether the output may have colour. */
  readonly isTerminal: boolean;
}

interface DoctorWishes extends ReportWishes {
  readonly model?: string;
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
  const mcpServers = positionals[0] === undefined ? await examineMcp(config, wishes) : [];
  const code = await examineModels(choice, mcpServers, wishes);
  return mcpServers.some(({ verdict }) => verdict === "fails") ? NO_ANSWER_EXIT_CODE : code;
}

/** Examines the MCP servers of the operator, and prints what came of it unless JSON is wanted. */
async function examineMcp(config: Config, wishes: ReportWishes): Promise<readonly McpExamination[]> {
  if (config.mcpServersFile === null || config.mcp === "off") return [];
  if (wishes.json !== true) wishes.note("Connecting to the MCP servers of MCP_SERVERS_FILE …");
  const examinations = await examineMcpServers(config, new AbortController().signal);
  if (wishes.json === true) return examinations;
  wishes.print("MCP servers");
  for (const { mcp_server: name, verdict, tools, why, ms } of examinations)
    wishes.print(
      lineOf(
        verdict,
        name,
        why ?? `${tools.length === 1 ? "1 tool" : `${tools.length} tools`}, ${ms} ms`,
        wishes.isTerminal && wishes.hasColors,
      ),
    );
  wishes.print("");
  return examinations;
}

async function examineModels(
  choice: Awaited<ReturnType<typeof chooseModel>>,
  mcpServers: readonly McpExamination[],
  wishes: DoctorWishes,
): Promise<number> {
  const { model: chosenModel = null, json = false } = wishes;
  if (choice.servers !== null) return await examineAll(choice.servers, mcpServers, wishes);
  if (choice.kindOf("") === "built-in") {
    if (mcpServers.length === 0)
      throw new ConfigError(["There is no model server to examine. Name its URL, or set MODEL_BASE_URL."]);
    if (json) wishes.print(JSON.stringify({ mcp_servers: mcpServers }, null, 2));
    return ANSWERS_EXIT_CODE;
  }
  const signal = new AbortController().signal;
  if (!json) wishes.note(`Examining ${choice.description} …`);
  const request = { model: chosenModel, signal };
  const examination = json
    ? await examineServer(choice.engine, request)
    : await printReport(choice.engine, request, wishes);
  const others = mcpServers.length === 0 ? {} : { mcp_servers: mcpServers };
  if (json) wishes.print(JSON.stringify({ server: choice.baseUrl, ...examination, ...others }, null, 2));
  return isUsable(examination) ? ANSWERS_EXIT_CODE : NO_ANSWER_EXIT_CODE;
}

/**
 * Examines every server of `MODELS_FILE`, one after the other: by the first model for answers that leads to it, and by
 * each of its models for embeddings and ranks.
 */
async function examineAll(
  servers: ModelServers,
  mcpServers: readonly McpExamination[],
  wishes: DoctorWishes,
): Promise<number> {
  const { signal } = new AbortController();
  const { model: chosenModel = null } = wishes;
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
  if (wishes.json === true) wishes.print(JSON.stringify([...reports, ...mcpServers], null, 2));
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

function lineOf(verdict: keyof typeof MARKS, name: string, why: string | null, hasColors: boolean): string {
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
