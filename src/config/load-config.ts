import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { assert } from "@antiphon/base/assert.ts";
import { type ActivatedSockets, readActivatedSockets } from "./activated-sockets.ts";
import { flagOf, readCommandLine } from "./command-line.ts";
import { ConfigError } from "./config-error.ts";
import { variablesOf } from "./environment/file-variables.ts";
import { FILE_NAMES, unknownNames } from "./environment/variable-names.ts";
import { readFilesUrl } from "./files-url.ts";
import { readValue, type SettingValue } from "./read-value.ts";
import type { Secret } from "./secret.ts";
import type { Setting, Values } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>> & {
  /** Set by `readEnvironment`. */
  readonly [FILE_NAMES]?: readonly string[];
};

const MEBIBYTE = 1024 * 1024;
/** By default, this many bodies of the largest size fit into memory. */
const BODIES_AT_ONCE = 4;

const NODE_NAME = /^[\w.-]{1,63}$/;

type TableValues = Values<typeof SETTINGS>;

export type Config = Readonly<
  Omit<
    TableValues,
    "databaseFile" | "incomingBytesMax" | "nodeName" | "validateReplies" | "whisperCacheDir" | "whisperModelsDir"
  > & {
    databaseFile: string;
    /** False if NO_COLOR is set, by a convention of many programs. */
    hasColors: boolean;
    incomingBytesMax: number;
    nodeName: string;
    /** Open sockets that replace addresses. */
    sockets: ActivatedSockets;
    validateReplies: boolean;
    whisperCacheDir: string;
    whisperModelsDir: string;
  }
>;

/**
 * Reads the whole configuration and freezes it. Flags override the environment, and the environment overrides defaults.
 * Throws one `ConfigError` that names every invalid setting.
 */
export function loadConfig(environment: Environment, argv: readonly string[]): Config {
  const { flags, problems } = readCommandLine(argv);
  const allProblems = [...problems];
  const read = (setting: Setting): SettingValue | null => {
    // Many tools set an empty variable to mean an unset one.
    const flag = flags.get(setting.name);
    const text = flag ?? environment[setting.name]?.trim();
    if (text === undefined || text === "") return setting.default;
    const outcome = readValue(setting, text);
    if ("value" in outcome) return outcome.value;
    const name = flag === undefined ? setting.name : `${setting.name} (--${flagOf(setting)})`;
    allProblems.push(`${name} ${outcome.problem}.`);
    return setting.default;
  };
  const values = readTable(read);
  const mentioned = [values.mcpServersFile, values.modelsFile].flatMap((file) => [...variablesOf(file)]);
  allProblems.push(...unknownNames(environment[FILE_NAMES] ?? [], new Set(mentioned)));
  if (values.databaseUrl !== null && !isPostgres(values.databaseUrl))
    allProblems.push("DATABASE_URL is not an address such as postgres://user:password@host/database.");
  allProblems.push(...busProblems(values));
  if (values.processes > 1 && values.databaseUrl === null && values.databaseFile === ":memory:")
    allProblems.push(`PROCESSES is ${values.processes}, but DATABASE_FILE is :memory:, which processes cannot share.`);
  if (values.nodeName !== null && !NODE_NAME.test(values.nodeName))
    allProblems.push(
      "NODE_NAME is longer than 63 characters, or contains other characters than letters, digits, dots, hyphens and underscores.",
    );
  if (values.rateLimits === "shared" && values.databaseUrl === null)
    allProblems.push("RATE_LIMITS is shared, but DATABASE_URL is not set, so servers have no common database.");
  allProblems.push(...filesProblems(values));
  const sockets = readActivatedSockets(environment, process, allProblems);
  if (allProblems.length > 0) throw new ConfigError(allProblems);
  const whisperCacheDir = values.whisperCacheDir ?? usualCacheFolder(environment);
  return Object.freeze({
    ...values,
    databaseFile: values.databaseFile ?? join(values.dataDir, "antiphon.db"),
    hasColors: (environment["NO_COLOR"] ?? "") === "",
    incomingBytesMax: incomingBytesMax(values),
    nodeName: values.nodeName ?? hostname(),
    sockets,
    validateReplies: values.validateReplies ?? environment["NODE_ENV"] !== "production",
    whisperCacheDir,
    whisperModelsDir: values.whisperModelsDir ?? join(whisperCacheDir, "models"),
  });
}

function busProblems({ busUrl, databaseUrl }: TableValues): readonly string[] {
  if (busUrl === null) return [];
  if (databaseUrl === null) return ["BUS_URL is set without DATABASE_URL: servers of one SQLite file need no broker."];
  const url = URL.parse(busUrl.reveal());
  const isRedis = url !== null && ["redis:", "rediss:"].includes(url.protocol) && url.hostname !== "";
  return isRedis ? [] : ["BUS_URL is not an address such as redis://host or rediss://user:password@host."];
}

/** The messages do not repeat FILES_URL, which may contain a password. */
function filesProblems(values: TableValues): readonly string[] {
  if (values.filesUrl === null) return [];
  const place = readFilesUrl(values.filesUrl);
  if (place === null) return ["FILES_URL is neither s3://bucket/prefix nor file:///folder."];
  if (place.type === "folder" || (values.awsAccessKeyId !== null && values.awsSecretAccessKey !== null)) return [];
  return ["FILES_URL names a bucket, but AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set."];
}

function isPostgres(url: Secret): boolean {
  const { protocol = "" } = URL.canParse(url.reveal()) ? new URL(url.reveal()) : {};
  return protocol === "postgres:" || protocol === "postgresql:";
}

function incomingBytesMax(values: TableValues): number {
  const largest = largestBody(values);
  return Math.max(values.incomingBytesMax ?? BODIES_AT_ONCE * largest, largest);
}

function largestBody(values: Pick<TableValues, "bodyBytesMax" | "uploadMegabytesMax">): number {
  return Math.max(values.bodyBytesMax, values.uploadMegabytesMax * MEBIBYTE);
}

/**
 * The configuration of one of several processes. Each process gets its share of the limits on connections, responses
 * and bytes, rounded up. A budget for bodies is never below the largest body.
 */
export function shareConfig(config: Config, processes: number): Config {
  const part = (limit: number): number => Math.ceil(limit / processes);
  return Object.freeze({
    ...config,
    runsMax: part(config.runsMax),
    backgroundRunsMax: part(config.backgroundRunsMax),
    runQueueMax: part(config.runQueueMax),
    websocketConnectionsMax: part(config.websocketConnectionsMax),
    websocketConnectionsPerKeyMax: part(config.websocketConnectionsPerKeyMax),
    modelConnectionsMax: part(config.modelConnectionsMax),
    codeSessionsMax: part(config.codeSessionsMax),
    unreadBytesMax: part(config.unreadBytesMax),
    incomingBytesMax: Math.max(part(config.incomingBytesMax), largestBody(config)),
  });
}

/** The project's folder in the user's cache folder. */
function usualCacheFolder(environment: Environment): string {
  const folder = environment["XDG_CACHE_HOME"] ?? "";
  return join(folder === "" ? join(homedir(), ".cache") : folder, "antiphon");
}

function readTable(read: (setting: Setting) => SettingValue | null): TableValues {
  const values = Object.fromEntries(Object.entries(SETTINGS).map(([key, setting]) => [key, read(setting)]));
  assert(isWholeTable(values), "every setting of the table has a value");
  return values;
}

/** `readValue` gives each value its setting's type, which the compiler cannot check. */
function isWholeTable(values: object): values is TableValues {
  return Object.keys(SETTINGS).every((key) => key in values);
}
