import { setTimeout as sleep } from "node:timers/promises";
import type { Response, ResponseSummary, RunKind } from "@antiphon/contracts/responses-api/types.ts";
import { type Antiphon, AntiphonError, APIConnectionError, APIError } from "../../packages/client/src/index.ts";
import type { Environment } from "../config/load-config.ts";
import { readCommandArguments } from "./misused-command.ts";
import { runsClient } from "./runs-client.ts";
import { RunsMisused } from "./runs-misused.ts";
import {
  eventLine,
  eventLines,
  exchangeLines,
  noteLine,
  printable,
  runLine,
  runLines,
  runOnTerminal,
} from "./runs-text.ts";

const USAGE = `Usage: antiphon runs list [--status STATUS]... [--model MODEL] [--kind KIND] [--query WORDS] [--previous ID] [--conversation ID] [--metadata NAME=VALUE]... [--limit 20] [--json]
       antiphon runs show ID [--events] [--exchanges] [--json]
       antiphon runs tail [ID] [--json]    follows new runs, or the events of one run

Requests go to the server at --url URL or ANTIPHON_URL (http://127.0.0.1:8080) with the key in ANTIPHON_API_KEY or in --key-file FILE. Without a key, the key of a server on this machine is read from API_KEYS, or from the file api-key in DATA_DIR.
Lists begin with the newest run. --json prints the objects of the API, one per line. Exit codes: 0, or 2 if the server refuses or cannot be reached.`;

const WHERE_ELSE = "Is the server running? --url or ANTIPHON_URL select another server.";

const KEY_ELSEWHERE = "ANTIPHON_API_KEY or --key-file FILE select a key; otherwise the key in DATA_DIR is used.";
const UNAUTHORIZED = 401;

const DONE = 0;
const REFUSED = 2;
const TAIL_MS = 1_000;
/** How many runs tail remembers, to print each change only once. */
const REMEMBERED_RUNS_MAX = 1_000;
const PAGE = 100;

export interface RunsOutputs {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  /** The width of the terminal; null if the output goes to another program. */
  readonly columns: number | null;
}

type Values = ReturnType<typeof readCommandArguments<typeof OPTIONS>>["values"];

interface Asking {
  readonly client: Antiphon;
  readonly values: Values;
  readonly print: (text: string) => void;
  readonly printRun: (run: ResponseSummary) => void;
  /** Ends `tail`. */
  readonly signal: AbortSignal;
}

/** Runs `runs …` and returns its exit code. `signal` ends `tail`. */
export async function runRunsCommand(
  argv: readonly string[],
  environment: Environment,
  outputs: RunsOutputs,
  signal: AbortSignal,
): Promise<number> {
  const { print, note } = outputs;
  try {
    const { values, positionals } = readCommandArguments(
      argv,
      OPTIONS,
      (problem) => new RunsMisused(`${problem}\n\n${USAGE}`),
    );
    const [command, id, ...others] = positionals;
    if (values.help === true) return say(print, USAGE);
    if (others.length > 0) throw new RunsMisused(USAGE);
    const hasColors = (environment["NO_COLOR"] ?? "") === "";
    const printRun = (run: ResponseSummary): void => print(shownRun(run, values, { ...outputs, hasColors }));
    const asking = { client: await runsClient(values, environment), values, print, printRun, signal };
    if (command === "list" && id === undefined) await list(asking);
    else if (command === "show" && id !== undefined) await show(asking, id);
    else if (command === "tail") await (id === undefined ? tail(asking) : tailOne(asking, id));
    else throw new RunsMisused(USAGE);
    return DONE;
  } catch (error) {
    if (signal.aborted) return DONE;
    if (!(error instanceof RunsMisused || error instanceof AntiphonError)) throw error;
    note([error.message, ...adviceOn(error)].join(" "));
    return REFUSED;
  }
}

function adviceOn(error: Error): readonly string[] {
  if (error instanceof APIConnectionError) return [WHERE_ELSE];
  return error instanceof APIError && error.status === UNAUTHORIZED ? [KEY_ELSEWHERE] : [];
}

function shownRun(
  run: ResponseSummary,
  { json }: Values,
  { columns, hasColors }: Pick<RunsOutputs, "columns"> & { readonly hasColors: boolean },
): string {
  if (json === true) return JSON.stringify(run);
  return columns === null ? runLine(run) : runOnTerminal(run, columns, hasColors);
}

async function list({ client, values, printRun }: Asking): Promise<void> {
  const limit = readLimit(values.limit);
  const filter = filterOf(values);
  let countLeft = limit;
  for (let after: string | null | undefined; countLeft > 0 && after !== null; ) {
    const place = after === undefined ? {} : { after };
    const page = await client.listResponses({ ...filter, limit: Math.min(countLeft, PAGE), ...place });
    for (const run of page.data) printRun(run);
    countLeft -= page.data.length;
    after = page.has_more ? page.last_id : null;
  }
}

async function show({ client, values, print }: Asking, id: string): Promise<void> {
  const response = await client.getResponse(id);
  print(values.json === true ? JSON.stringify(response) : runLines(response));
  if (values.events === true) await printEvents(client, id, values, print);
  if (values.exchanges !== true) return;
  const { data, notes } = await client.listResponseExchanges(id);
  for (const exchange of data) print(values.json === true ? JSON.stringify(exchange) : exchangeLines(exchange));
  for (const each of notes) print(values.json === true ? JSON.stringify(each) : noteLine(each));
}

async function printEvents(client: Antiphon, id: string, values: Values, print: Asking["print"]): Promise<void> {
  for (let after: number | null | undefined; after !== null; ) {
    const page = await client.listResponseTimeline(id, after === undefined ? {} : { after });
    const lines = values.json === true ? page.data.map((event) => JSON.stringify(event)) : eventLines(page.data);
    for (const line of lines) print(line);
    after = page.has_more ? (page.data.at(-1)?.sequence_number ?? null) : null;
  }
}

/** Prints each run when it is new and when its status changes. */
async function tail({ client, values, printRun, signal }: Asking): Promise<void> {
  const statuses = new Map<string, Response["status"]>();
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const { data } = await client.listResponses({ ...filterOf(values), limit: PAGE });
    for (const run of data.toReversed()) {
      if (statuses.get(run.id) === run.status) continue;
      statuses.set(run.id, run.status);
      if (!isFirst || run.is_live) printRun(run);
    }
    forgetOldest(statuses);
    await sleep(TAIL_MS, null, { signal });
  }
}

function forgetOldest(statuses: Map<string, unknown>): void {
  for (const id of statuses.keys()) {
    if (statuses.size <= REMEMBERED_RUNS_MAX) return;
    statuses.delete(id);
  }
}

async function tailOne({ client, values, print, signal }: Asking, id: string): Promise<void> {
  const events = await client.streamResponseEvents(id, { dialect: "reference" }, { signal });
  try {
    for await (const event of events)
      print(values.json === true ? JSON.stringify(event) : eventLine({ ...event, at_ms: null }));
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== null) throw error;
    const { code, message } = error; // The run failed, not the command.
    print(values.json === true ? JSON.stringify({ type: "error", code, message }) : `failed: ${printable(message)}`);
  }
}

function filterOf({
  status,
  model,
  kind,
  query,
  metadata,
  previous,
  conversation,
}: Values): Parameters<Antiphon["listResponses"]>[0] & object {
  return {
    ...(status === undefined ? {} : { status: status.map(readStatus) }),
    ...(model === undefined ? {} : { model }),
    ...(kind === undefined ? {} : { kind: readKind(kind) }),
    ...(query === undefined ? {} : { query }),
    ...(previous === undefined ? {} : { previous_response_id: previous }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(metadata === undefined ? {} : { metadata: Object.fromEntries(metadata.map(readPair)) }),
  };
}

const STATUSES: readonly ResponseSummary["status"][] = [
  "queued",
  "in_progress",
  "completed",
  "incomplete",
  "failed",
  "cancelled",
];
const KINDS: readonly RunKind[] = ["background", "plain", "streamed", "websocket"];

function readStatus(text: string): ResponseSummary["status"] {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined) throw new RunsMisused(`--status '${text}' is none of ${STATUSES.join(", ")}.`);
  return status;
}

function readKind(text: string): RunKind {
  const kind = KINDS.find((one) => one === text);
  if (kind === undefined) throw new RunsMisused(`--kind '${text}' is none of ${KINDS.join(", ")}.`);
  return kind;
}

function readPair(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at <= 0) throw new RunsMisused(`--metadata '${text}' is not NAME=VALUE.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const LIMIT_DEFAULT = 20;
const LIMIT_DIGITS_MAX = 6;

function readLimit(text: string | undefined): number {
  if (text === undefined) return LIMIT_DEFAULT;
  if (!/^\d+$/.test(text) || text.length > LIMIT_DIGITS_MAX)
    throw new RunsMisused(`--limit '${text}' is not a whole number of at most ${LIMIT_DIGITS_MAX} digits.`);
  return Number(text);
}

function say(print: (text: string) => void, text: string): number {
  print(text);
  return DONE;
}

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  url: { type: "string" },
  "key-file": { type: "string" },
  status: { type: "string", multiple: true },
  model: { type: "string" },
  kind: { type: "string" },
  query: { type: "string" },
  previous: { type: "string" },
  conversation: { type: "string" },
  metadata: { type: "string", multiple: true },
  limit: { type: "string" },
  events: { type: "boolean" },
  exchanges: { type: "boolean" },
} as const;
