import { existsSync } from "node:fs";
import { parseArgs, styleText } from "node:util";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { type Config, type Environment, loadConfig } from "../config/load-config.ts";
import { examineRetrieval } from "../model-engines/probing/examine-retrieval.ts";
import { type Examination, examineServer } from "../model-engines/probing/examine-server.ts";
import type { Finding, Verdict } from "../model-engines/probing/finding.ts";
import { type ChosenModel, chooseModel } from "../servers/choices/choose-model.ts";
import type { ModelServers } from "../servers/choices/choose-model-servers.ts";
import { programVersion } from "../version/program-version.ts";
import { examineMachine } from "./machine/examine-machine.ts";
import type { MachineLine, MachineState } from "./machine/machine-line.ts";
import { writeSupportBundle } from "./machine/support-bundle.ts";
import { examineMcpServers, type McpExamination } from "./mcp/examine-mcp-servers.ts";
import { argumentFault } from "./misused-command.ts";

const USAGE = `Usage: antiphon doctor [URL] [--model NAME] [--all] [--json]
       antiphon doctor [--bundle FILE] [--model NAME] [--all] [--json]

Without a URL, looks at the whole machine first: models, speech, media, sandboxes, search, disk, memory, ports, clock and keys. Each line has a state, and the command or setting that mends it. Then it examines the model servers and MCP servers of the settings.
Sends a few short requests to a model server, such as http://127.0.0.1:11434/v1. Reports which fields of a request the server honours, which Antiphon emulates, which have no effect and which are refused, and why. A model without answers is tried for embeddings and ranks. Without a URL, it examines all servers of MODELS_FILE, by what their models are for, or the server of MODEL_BASE_URL, or Ollama on this machine; and it connects to each MCP server of MCP_SERVERS_FILE and lists its tools. The key is MODEL_API_KEY, from the environment or .env.
--all shows every field of a request; --json prints everything as JSON. --bundle writes it to a new file, too, with the settings that are not defaults and facts of the system, for those who help; it has no secrets, but names of hosts and paths.

Exit codes: 0 if nothing fails and every server answers, MCP servers among them, 1 otherwise, 2 for invalid arguments.`;

const ANSWERS_EXIT_CODE = 0;
const NO_ANSWER_EXIT_CODE = 1;
const USAGE_EXIT_CODE = 2;

type Mark = readonly [string, Parameters<typeof styleText>[0]];

const MARKS: Readonly<Record<Verdict | McpExamination["verdict"] | MachineState, Mark>> = {
  honoured: ["✓", "green"],
  emulated: ["≈", "cyan"],
  ignored: ["·", "yellow"],
  refused: ["✗", "red"],
  unknown: ["?", "magenta"],
  works: ["✓", "green"],
  reduced: ["≈", "yellow"],
  off: ["·", "yellow"],
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
  readonly bundle?: string;
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
  const [url] = positionals;
  const server = url === undefined ? {} : { MODEL_BASE_URL: url, MODELS_FILE: "" };
  const config = loadConfig({ ...environment, ...server, SCENARIO_FILE: "" }, []);
  const model = await chooseModel(config, silentLogger);
  const wishes = { ...values, ...output, hasColors: config.hasColors };
  try {
    return url === undefined ? await examineWhole(config, model, wishes) : await examineNamed(model, wishes);
  } finally {
    await model.embedded?.close();
  }
}

/** Examines one server, whose address was given. */
async function examineNamed(model: ChosenModel, wishes: DoctorWishes): Promise<number> {
  const { reports, haveAllAnswered } = await examineModels(model, wishes);
  if (wishes.json === true) wishes.print(JSON.stringify(reports[0], null, 2));
  return haveAllAnswered ? ANSWERS_EXIT_CODE : NO_ANSWER_EXIT_CODE;
}

/** Examines this machine, and then its MCP servers and model servers. */
async function examineWhole(config: Config, model: ChosenModel, wishes: DoctorWishes): Promise<number> {
  const machine = await examineMachine(config, model, new AbortController().signal);
  if (wishes.json !== true)
    for (const line of ["This machine", ...machine.map(machineText(wishes)), ""]) wishes.print(line);
  const mcpServers = await examineMcp(config, wishes);
  const { reports, haveAllAnswered } = await examineModels(model, wishes);
  const findings = { machine, servers: reports, mcp_servers: mcpServers };
  if (wishes.json === true) wishes.print(JSON.stringify({ version: programVersion(), ...findings }, null, 2));
  if (wishes.bundle !== undefined) {
    writeSupportBundle(wishes.bundle, config, findings);
    wishes.note(`${wishes.bundle} has no secrets, but names of hosts and paths. Look at it before you send it.`);
  }
  const fails = [
    ...machine.filter(({ state }) => state === "fails"),
    ...mcpServers.filter(({ verdict }) => verdict === "fails"),
  ];
  return fails.length === 0 && haveAllAnswered ? ANSWERS_EXIT_CODE : NO_ANSWER_EXIT_CODE;
}

function machineText({ isTerminal, hasColors }: ReportWishes): (line: MachineLine) => string {
  return ({ part, state, text, cure }) =>
    lineOf(state, part, cure === null ? text : `${text}. To mend it: ${cure}`, isTerminal && hasColors);
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

interface ModelReports {
  /** As JSON has them. */
  readonly reports: readonly object[];
  readonly haveAllAnswered: boolean;
}

/** Examines the model servers, and prints each finding as it comes unless JSON is wanted. */
async function examineModels(choice: ChosenModel, wishes: DoctorWishes): Promise<ModelReports> {
  const { model: chosenModel = null, json = false } = wishes;
  if (choice.servers !== null) return await examineAll(choice.servers, wishes);
  if (choice.kindOf("") === "built-in") return { reports: [], haveAllAnswered: true };
  const signal = new AbortController().signal;
  if (!json) wishes.note(`Examining ${choice.description} …`);
  const examination = await examineOne(choice.engine, { model: chosenModel, signal }, wishes);
  return { reports: [{ server: choice.baseUrl, ...examination }], haveAllAnswered: isUsable(examination) };
}

function examineOne(
  engine: ModelEngine,
  request: Parameters<typeof examineServer>[1],
  wishes: DoctorWishes,
): Promise<Examination> {
  return wishes.json === true ? examineServer(engine, request) : printReport(engine, request, wishes);
}

/**
 * Examines every server of `MODELS_FILE`, one after the other: by the first model for answers that leads to it, and by
 * each of its models for embeddings and ranks.
 */
async function examineAll(servers: ModelServers, wishes: DoctorWishes): Promise<ModelReports> {
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
      const examination = await examineOne(engine, { model, kind, signal }, wishes);
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
  return { reports, haveAllAnswered };
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
    const { bundle } = read.values;
    if (bundle !== undefined && url !== undefined) return "--bundle is about the whole machine, so it takes no URL.";
    if (bundle !== undefined && existsSync(bundle))
      return `--bundle writes a new file, and ${bundle} is there already.`;
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
      bundle: { type: "string" },
    },
    allowPositionals: true,
    strict: true,
  });
}
