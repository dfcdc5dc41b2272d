import { join } from "node:path";
import { ConfigError } from "../config/config-error.ts";
import { readFilesUrl } from "../config/files-url.ts";
import { type Config, type Environment, loadConfig } from "../config/load-config.ts";
import type { BackupSource } from "../store/backup/make-backup.ts";
import { makeBackup, removeOldBackups, timedName } from "../store/backup/make-backup.ts";
import { restoreBackup } from "../store/backup/restore-backup.ts";
import { programVersion } from "../version/program-version.ts";
import { MisusedCommand, readCommandArguments } from "./misused-command.ts";

export const BACKUP_USAGE = `Usage: antiphon backup FOLDER [--without-keys]
       antiphon backup --into FOLDER [--keep N] [--without-keys]
       antiphon restore FOLDER [--replace]

backup copies the database, files and keys of a server on SQLite into a new FOLDER; the server may keep running. --into creates a folder named by the time inside FOLDER, and --keep removes all but the newest N of them. The backup holds the keys that open sealed data: protect it like the data folder, or leave out seal-key and api-key with --without-keys.
restore checks the checksums and the database, then copies the backup to DATA_DIR and DATABASE_FILE. Stop the servers first. --replace moves existing data aside.
--data-dir and --database-file locate the data, like the settings of the same names.`;

interface Say {
  /** Output for scripts. */
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
}

/** Runs `backup …`. Prints the path of the backup. If `signal` aborts, no partial backup remains. */
export async function runBackup(
  argv: readonly string[],
  environment: Environment,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  const { values, positionals } = readCommandArguments(argv, BACKUP_OPTIONS, misuse);
  if (values.help === true) return say.print(BACKUP_USAGE);
  const keep = values.keep === undefined ? null : keptOf(values.keep);
  const [path, ...others] = positionals;
  if (others.length > 0 || (path === undefined) === (values.into === undefined))
    throw misuse("backup needs one folder.");
  if (keep !== null && values.into === undefined) throw misuse("--keep requires --into.");
  const config = configOf(environment, values);
  const folder = path ?? join(values.into ?? "", timedName(new Date()));
  const withKeys = values["without-keys"] !== true;
  const options = { withKeys, version: programVersion(), elsewhere: elsewhereOf(config), signal };
  const summary = await makeBackup(sourceOf(config), folder, options);
  say.note(`Backed up and checked ${summary.files} files.`);
  for (const sentence of summary.notIncluded) say.note(`Not included: ${sentence}`);
  if (withKeys) say.note("The backup holds the keys of the data folder: protect it like the data folder.");
  for (const old of keep === null ? [] : await removeOldBackups(values.into ?? "", keep)) say.note(`Removed ${old}.`);
  say.print(folder);
}

/** Runs `restore …`. */
export async function runRestore(argv: readonly string[], environment: Environment, say: Say): Promise<void> {
  const { values, positionals } = readCommandArguments(argv, RESTORE_OPTIONS, misuse);
  if (values.help === true) return say.print(BACKUP_USAGE);
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) throw misuse("restore needs the folder of one backup.");
  const config = configOf(environment, values);
  const { files, hasKeys, movedTo } = await restoreBackup(folder, sourceOf(config), values.replace === true);
  for (const path of movedTo) say.note(`The previous data is now in ${path}.`);
  if (!hasKeys && config.sealKeys.length === 0)
    say.note("The backup holds no sealing keys. Copy seal-key from the old data folder to DATA_DIR before the start.");
  say.print(`Checked and restored ${files} files.`);
}

const WHERE = {
  help: { type: "boolean", short: "h" },
  "data-dir": { type: "string" },
  "database-file": { type: "string" },
} as const;
const BACKUP_OPTIONS = {
  ...WHERE,
  into: { type: "string" },
  keep: { type: "string" },
  "without-keys": { type: "boolean" },
} as const;
const RESTORE_OPTIONS = { ...WHERE, replace: { type: "boolean" } } as const;

function keptOf(text: string): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value === 0) throw misuse(`--keep '${text}' is not a whole number above 0.`);
  return value;
}

function configOf(
  environment: Environment,
  values: { readonly "data-dir"?: string | undefined; readonly "database-file"?: string | undefined },
): Config {
  const flags = (["data-dir", "database-file"] as const).flatMap((flag) => {
    const value = values[flag];
    return value === undefined ? [] : [`--${flag}=${value}`];
  });
  const config = loadConfig(environment, flags);
  if (config.databaseUrl !== null) throw new ConfigError(ON_POSTGRES);
  if (config.databaseFile === ":memory:")
    throw new ConfigError(["DATABASE_FILE is ':memory:', which cannot be backed up."]);
  return config;
}

/** pg_dump must have the server's version, and database providers offer better backups. */
const ON_POSTGRES = [
  "DATABASE_URL is set: everything but the bytes of files is in PostgreSQL, which has its own tools.",
  '  Back up: pg_dump --format=custom --file antiphon.dump "$DATABASE_URL". Then copy the storage of FILES_URL, or the folders files and containers of DATA_DIR.',
  '  Restore: stop the servers, then pg_restore --clean --if-exists --dbname "$DATABASE_URL" antiphon.dump.',
  "  Store SEAL_KEYS with both.",
];

function sourceOf({ databaseFile, dataDir, filesUrl }: Config): BackupSource {
  const place = filesUrl === null ? null : readFilesUrl(filesUrl);
  if (place === null) return { databaseFile, dataDir, filesRoot: dataDir };
  return { databaseFile, dataDir, filesRoot: place.type === "folder" ? place.path : null };
}

/** The parts that a backup does not include. */
function elsewhereOf({ filesUrl, sealKeys, apiKeys }: Config): readonly string[] {
  const isBucket = filesUrl !== null && readFilesUrl(filesUrl)?.type === "bucket";
  return [
    ...(isBucket ? [`The bytes of files, which are in ${filesUrl}: back up the bucket after this command.`] : []),
    ...(sealKeys.length > 0 ? ["The sealing keys in SEAL_KEYS."] : []),
    ...(apiKeys.length > 0 ? ["The API keys in API_KEYS."] : []),
  ];
}

function misuse(problem: string): MisusedCommand {
  return new MisusedCommand(problem, BACKUP_USAGE);
}
