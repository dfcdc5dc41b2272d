import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { GRAMMAR_TEXT, NOTES, RULES, type StreamReport, TextLinter } from "@antiphon/stream-grammar/index.ts";
import type { Environment } from "../config/load-config.ts";
import { readCommandArguments } from "./misused-command.ts";

const USAGE = `Usage: antiphon lint-stream FILE|URL|- [--json] [--dialect reference|extension]
       antiphon lint-stream URL --body JSON|@FILE    streams a new response; URL may be a base URL such as http://127.0.0.1:8080/v1
       antiphon lint-stream --rules | --grammar

A file, or standard input (-), holds server-sent events or one JSON event per line. Requests to a URL use the key in ANTIPHON_API_KEY or in --key-file FILE.
--header 'NAME: VALUE' adds a header and can be repeated; --timeout SECONDS (600) limits the time of a live stream.

The dialect is detected from the events; --dialect requires one of the two.
A note marks a weakness that the reference has too; it breaks no rule.
Exit codes: 0 if no rule is broken, 1 if one is, 2 if there was no stream to check.`;

const CLEAN_EXIT_CODE = 0;
const BROKEN_EXIT_CODE = 1;
const NO_STREAM_EXIT_CODE = 2;
const TIMEOUT_SECONDS = 600;
const STREAM_BYTES_MAX = 1024 ** 3;
const REFUSAL_CHARACTERS_MAX = 500;

/** Input and output of the command. */
export interface LintStreamStreams {
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
  readonly stdin: AsyncIterable<unknown>;
}

/**
 * Runs `lint-stream …` and returns its exit code. Findings go to `print`. If there is no stream, the reason goes to
 * `note`.
 */
export async function runLintStream(
  argv: readonly string[],
  environment: Environment,
  streams: LintStreamStreams,
): Promise<number> {
  try {
    const { values, positionals } = readCommandArguments(argv, OPTIONS, misuse);
    if (values.help === true) return say(streams, USAGE);
    if (values.grammar === true) return say(streams, GRAMMAR_TEXT);
    if (values.rules === true) return say(streams, rulesText());
    const [source, ...others] = positionals;
    if (source === undefined || others.length > 0) throw misuse("lint-stream checks one file, URL or -.");
    const reports = await lintSource(source, values, { environment, stdin: streams.stdin });
    if (reports.every(({ events }) => events === 0) && reports.every(({ faults }) => faults.length <= 1))
      throw new NoStreamError(`There is no event in ${source}.`);
    streams.print(values.json === true ? jsonText(source, reports) : printable(humanText(source, reports)));
    return reports.some(({ faults }) => faults.length > 0) ? BROKEN_EXIT_CODE : CLEAN_EXIT_CODE;
  } catch (error) {
    if (!(error instanceof NoStreamError)) throw error;
    streams.note(printable(error.message));
    return NO_STREAM_EXIT_CODE;
  }
}

/** There is no stream to check. The message is printed without a stack. */
class NoStreamError extends Error {
  override readonly name = "NoStreamError";
}

type Values = ReturnType<typeof readCommandArguments<typeof OPTIONS>>["values"];

interface World {
  readonly environment: Environment;
  readonly stdin: AsyncIterable<unknown>;
}

async function lintSource(source: string, values: Values, world: World): Promise<readonly StreamReport[]> {
  const { dialect = null } = values;
  if (dialect !== null && dialect !== "reference" && dialect !== "extension")
    throw misuse(`--dialect '${dialect}' does not exist.`);
  const linter = new TextLinter(dialect);
  const isLive = /^https?:\/\//.test(source);
  if (!isLive && values.body !== undefined) throw misuse("--body requires a URL.");
  const chunks = isLive
    ? await openLive(source, values, { ...world, linter })
    : source === "-"
      ? world.stdin
      : createReadStream(source);
  await readInto(linter, chunks, source);
  return linter.end();
}

async function readInto(linter: TextLinter, chunks: AsyncIterable<unknown>, source: string): Promise<void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      if (typeof chunk === "string") linter.take(chunk);
      if (!(chunk instanceof Uint8Array)) continue;
      bytes += chunk.length;
      if (bytes > STREAM_BYTES_MAX) throw new RangeError(`The stream has more than ${STREAM_BYTES_MAX} bytes.`);
      linter.take(decoder.decode(chunk, { stream: true }));
    }
  } catch (error) {
    if (bytes > 0 && !(error instanceof RangeError))
      linter.report("frame-whole", `the stream broke off: ${reason(error)}`);
    else throw new NoStreamError(`${source} cannot be read: ${reason(error)}`);
  }
}

async function openLive(
  url: string,
  values: Values,
  { environment, linter }: World & { readonly linter: TextLinter },
): Promise<AsyncIterable<Uint8Array>> {
  const body = await readBody(values.body);
  const headers = await readHeaders(values, environment);
  if (body !== null) headers.set("content-type", "application/json");
  const reply = await fetch(body === null ? url : createUrl(url), {
    method: body === null ? "GET" : "POST",
    headers,
    body,
    signal: AbortSignal.timeout(timeoutSeconds(values.timeout) * 1000),
  }).catch((error: unknown) => {
    throw new NoStreamError(`${url} cannot be reached: ${reason(error)}`);
  });
  const contentType = reply.headers.get("content-type") ?? "";
  if (!reply.ok || reply.body === null || contentType.startsWith("application/json")) {
    const text = (await reply.text().catch(reason)).slice(0, REFUSAL_CHARACTERS_MAX);
    throw new NoStreamError(`${url} answers ${reply.status} without a stream: ${text}`);
  }
  if (reply.status !== 200 || contentType !== "text/event-stream; charset=utf-8")
    linter.report("content-type", `the answer is ${reply.status} with '${contentType}'`);
  return reply.body;
}

/** Appends the path of the create operation to a base URL. */
function createUrl(url: string): URL {
  const whole = new URL(url);
  if (whole.pathname === "/") whole.pathname = "/v1/responses";
  else if (/\/v1\/?$/.test(whole.pathname)) whole.pathname = `${whole.pathname.replace(/\/$/, "")}/responses`;
  return whole;
}

async function readBody(text: string | undefined): Promise<string | null> {
  if (text === undefined) return null;
  const json = text.startsWith("@") ? await readTextFile(text.slice(1)) : text;
  const body = jsonOrUndefined(json);
  if (!isRecord(body)) throw misuse("--body is not a JSON object.");
  return JSON.stringify({ ...body, stream: true });
}

async function readHeaders(values: Values, environment: Environment): Promise<Headers> {
  const headers = new Headers({ accept: "text/event-stream" });
  const file = values["key-file"];
  const key = file === undefined ? environment["ANTIPHON_API_KEY"] : await readTextFile(file);
  if (key !== undefined && key.trim() !== "") headers.set("authorization", `Bearer ${key.trim()}`);
  for (const header of values.header ?? []) {
    const [, name = "", value = ""] = /^([\w-]+):\s*(.*)$/.exec(header) ?? [];
    if (name === "") throw misuse("--header needs 'NAME: VALUE'.");
    headers.set(name, value);
  }
  return headers;
}

async function readTextFile(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error: unknown) => {
    throw new NoStreamError(`${file} cannot be read: ${reason(error)}`);
  });
}

function timeoutSeconds(text: string | undefined): number {
  if (text === undefined) return TIMEOUT_SECONDS;
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (seconds === 0) throw misuse(`--timeout '${text}' is not a whole number of seconds above 0.`);
  return seconds;
}

function humanText(source: string, reports: readonly StreamReport[]): string {
  const many = reports.length > 1;
  return reports
    .map(({ responseId, events, faults, faultsLeftOut, notes }, index) =>
      [
        ...faults.map(
          ({ event, type, rule, says }) =>
            `event ${event}${type === null ? "" : ` ${type}`}: ${rule}: ${says}\n    ${RULES[rule]}`,
        ),
        ...(faultsLeftOut === 0 ? [] : [`and ${faultsLeftOut} more`]),
        ...notes.map(
          ({ event, type, note, says }) =>
            `event ${event}${type === null ? "" : ` ${type}`}: note ${note}: ${says}\n    ${NOTES[note]}`,
        ),
        `${source}${many ? ` stream ${index + 1}` : ""}: ${events} events${responseId === null ? "" : ` of ${responseId}`}, ${verdict(faults.length + faultsLeftOut)}${notes.length === 0 ? "" : `, notes: ${notes.length}`}`,
      ].join("\n"),
    )
    .join("\n");
}

/** Removes control characters: the stream could send commands to the terminal. */
function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n]/gu, "\uFFFD");
}

function verdict(count: number): string {
  if (count === 0) return "no rule broken";
  return count === 1 ? "a rule broken once" : `rules broken ${count} times`;
}

function jsonText(source: string, reports: readonly StreamReport[]): string {
  const streams = reports.map(({ responseId, events, faults, faultsLeftOut, notes }) => ({
    response_id: responseId,
    events,
    faults,
    faults_left_out: faultsLeftOut,
    notes,
  }));
  return JSON.stringify({ source, ok: streams.every(({ faults }) => faults.length === 0), streams }, null, 2);
}

function rulesText(): string {
  const rules = Object.entries(RULES);
  const width = Math.max(...rules.map(([name]) => name.length));
  return rules.map(([name, sentence]) => `${name.padEnd(width)}  ${sentence}`).join("\n");
}

function say({ print }: LintStreamStreams, text: string): number {
  print(text);
  return CLEAN_EXIT_CODE;
}

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  rules: { type: "boolean" },
  grammar: { type: "boolean" },
  dialect: { type: "string" },
  body: { type: "string" },
  "key-file": { type: "string" },
  header: { type: "string", multiple: true },
  timeout: { type: "string" },
} as const;

function misuse(problem: string): NoStreamError {
  return new NoStreamError(`${problem}\n${USAGE}`);
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
