import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { freePort } from "./free-port.ts";
import { fastFolder, ServiceFolder, unprivilegedUser } from "./service-folder.ts";

/** A PostgreSQL server of our own, with a user `antiphon` who may do everything and needs no password. */
export interface PostgresServer {
  /** The address of a database. Left out: the one that is always there. */
  url(database?: string): string;
  /** Number of the process that all others of the server descend from. */
  pid(): number;
  /** Ends all processes without any care, as a loss of power does. What was not yet on the disk is lost. */
  crash(): Promise<void>;
  /** Starts it again on the same port and files after `crash`. */
  start(): Promise<void>;
  /** Ends it, and removes its files. It also ends with this process. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Whether commits wait for the disk. Left out: no, since most tests do not look at the files after a crash. */
  readonly fsync?: boolean;
  /** Addresses beside 127.0.0.1, such as that of a bridge. Whoever has an address of their networks may connect. */
  readonly addresses?: readonly string[];
  /** Further settings, such as `{ synchronous_commit: "off" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const START_MS_MAX = 30_000;
const LOOK_MS = 20;
const CONNECTIONS_MAX = 300;
/** One call for the whole disk instead of one for each of a thousand files. PostgreSQL has it from 14 on Linux. */
const START_SOON_AFTER_A_CRASH = process.platform === "linux" ? { recovery_init_sync_method: "syncfs" } : {};
/** Another program may take a port between the look and the start. */
const PORTS_TRIED_MAX = 3;

/** Starts a server on a free port. Throws where `whyNoPostgres` gives a reason. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  return await startIn(options, (folder, data) => {
    const login = ["-U", "antiphon", "--auth=trust"];
    folder.run(postgresProgram("initdb"), "-D", data, ...login, "--no-sync", "-E", "UTF8", "--locale=C");
  });
}

/** A server that follows `primary` and holds all that it commits, from when this resolves. */
export async function startReplica(primary: PostgresServer, options: PostgresOptions = {}): Promise<PostgresServer> {
  const replica = await startIn(options, (folder, data) => {
    const from = ["-d", primary.url(), "-D", data];
    folder.run(postgresProgram("pg_basebackup"), ...from, "--write-recovery-conf", "--checkpoint=fast", "--no-sync");
  });
  await askPostgres(primary, "alter system set synchronous_standby_names = '*'");
  await askPostgres(primary, "select pg_reload_conf()");
  await askPostgres(primary, "create table waits_for_the_replica ()");
  return replica;
}

/** Makes a replica the primary. */
export async function promote(replica: PostgresServer): Promise<void> {
  await askPostgres(replica, "select pg_promote()");
}

async function askPostgres(server: PostgresServer, sql: string): Promise<void> {
  const client = new Client({ connectionString: server.url() });
  await client.connect();
  await client.query(sql);
  await client.end();
}

async function startIn(
  options: PostgresOptions,
  prepare: (folder: ServiceFolder, data: string) => void,
): Promise<PostgresServer> {
  const why = whyNoPostgres();
  if (why !== undefined) throw new Error(why);
  const folder = new ServiceFolder("postgres", options.fsync === true ? tmpdir() : fastFolder(), "QUIT");
  try {
    return await OwnPostgres.start(folder, options, (data) => prepare(folder, data));
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

class OwnPostgres implements PostgresServer {
  readonly #folder: ServiceFolder;
  readonly #settings: readonly string[];
  #port = 0;
  #process: ChildProcess | undefined;

  private constructor(folder: ServiceFolder, options: PostgresOptions) {
    this.#folder = folder;
    this.#settings = settingsOf(options);
  }

  /** `prepare`: makes the files, in the folder that it gets. */
  static async start(
    folder: ServiceFolder,
    options: PostgresOptions,
    prepare: (data: string) => void,
  ): Promise<OwnPostgres> {
    const data = join(folder.path, "data");
    prepare(data);
    if (options.addresses !== undefined) await appendFile(join(data, "pg_hba.conf"), "host all all samenet trust\n");
    const server = new OwnPostgres(folder, options);
    await server.#startOnFreePort();
    return server;
  }

  url(database = "postgres"): string {
    return `postgres://antiphon@127.0.0.1:${this.#port}/${database}`;
  }

  pid(): number {
    return this.#process?.pid ?? 0;
  }

  async crash(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.ref();
    child.kill("SIGQUIT");
    await exited;
  }

  async start(): Promise<void> {
    const given = ["-D", join(this.#folder.path, "data"), "-p", String(this.#port), ...this.#settings];
    const child = this.#folder.start(postgresProgram("postgres"), ...given);
    this.#process = child;
    for (const end = Date.now() + START_MS_MAX; Date.now() < end && child.exitCode === null; await sleep(LOOK_MS)) {
      if (await answers(this.url())) return;
    }
    throw new Error(`PostgreSQL did not start: ${this.#folder.complaints()}`);
  }

  stop(): Promise<void> {
    return this.#folder.remove();
  }

  async #startOnFreePort(): Promise<void> {
    for (let tried = 1; ; tried += 1) {
      this.#port = await freePort();
      try {
        return await this.start();
      } catch (error) {
        if (tried === PORTS_TRIED_MAX) throw error;
      }
    }
  }
}

function settingsOf({ fsync = false, addresses = [], settings = {} }: PostgresOptions): readonly string[] {
  const all = {
    listen_addresses: ["127.0.0.1", ...addresses].join(","),
    unix_socket_directories: "",
    max_connections: CONNECTIONS_MAX,
    max_wal_size: "256MB",
    ...(fsync ? START_SOON_AFTER_A_CRASH : { fsync: "off", full_page_writes: "off" }),
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: START_MS_MAX });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/**
 * Why no PostgreSQL can be started here, for people to read; `undefined` where one can. Throws instead of giving a
 * reason if `REQUIRE_POSTGRES=1`, so that nothing is skipped where all must be tested.
 */
export function whyNoPostgres(): string | undefined {
  const why = missing();
  if (why !== undefined && process.env["REQUIRE_POSTGRES"] === "1") throw new Error(`REQUIRE_POSTGRES=1, but ${why}`);
  return why;
}

function missing(): string | undefined {
  if (folderOfPrograms() === undefined) return "PostgreSQL is not installed: apt-get install postgresql";
  try {
    unprivilegedUser();
    return undefined;
  } catch (error) {
    return `PostgreSQL does not run as root, and ${error instanceof Error ? error.message : "nobody else is known"}`;
  }
}

/** The version that `startPostgres` starts, such as `15.18`. */
export function postgresVersion(): string {
  return (
    /\d+(\.\d+)?/.exec(execFileSync(postgresProgram("postgres"), ["--version"], { encoding: "utf8" }))?.[0] ?? "unknown"
  );
}

/** The path of a program that belongs to the server. */
export function postgresProgram(name: "initdb" | "pg_basebackup" | "pg_dump" | "pg_restore" | "postgres"): string {
  return join(folderOfPrograms() ?? "", name);
}

/** Debian keeps them off the PATH, in a folder for each version. `POSTGRES_BIN` names another. */
function folderOfPrograms(): string | undefined {
  const newestFirst = globSync("/usr/lib/postgresql/*/bin").toSorted((a, b) => versionIn(b) - versionIn(a));
  return [process.env["POSTGRES_BIN"] ?? [], newestFirst, (process.env["PATH"] ?? "").split(delimiter)]
    .flat()
    .find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

function versionIn(path: string): number {
  return Number(/\/(\d+)\/bin$/.exec(path)?.[1] ?? 0);
}
