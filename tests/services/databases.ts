import { randomBytes } from "node:crypto";
import { Client } from "pg";

/** A database that others are copied from. */
export interface DatabaseTemplate {
  /** Tells it from other templates of the server. Letters, digits and underscores. */
  readonly name: string;
  /** Fills a new, empty database. Every connection to it must be closed at the end. */
  readonly prepare: (url: string) => Promise<unknown>;
}

/** One number for all locks of templates on a server: they are made one after the other. */
const TEMPLATE_LOCK = 4_815_162_342;

/**
 * Makes a database of its own for a test, and resolves to its address. `server` is the address of any database of the
 * server. The first call with a template makes it.
 */
export function createDatabase(server: string, template?: DatabaseTemplate): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  return withClient(server, async (client) => {
    if (template !== undefined) await makeTemplate(client, server, template);
    await client.query(`create database ${name} template ${template?.name ?? "template0"}`);
    return addressOf(server, name);
  });
}

/** Removes a database that `createDatabase` made, and ends the connections to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await withClient(addressOf(url, "postgres"), (client) =>
    client.query(`drop database if exists ${name} with (force)`),
  );
}

async function makeTemplate(client: Client, server: string, { name, prepare }: DatabaseTemplate): Promise<void> {
  if (await exists(client, name)) return;
  await client.query("select pg_advisory_lock($1)", [TEMPLATE_LOCK]); // Ends with the connection.
  if (await exists(client, name)) return;
  const unfinished = `${name}_unfinished`;
  await client.query(`drop database if exists ${unfinished} with (force)`);
  await client.query(`create database ${unfinished} template template0`);
  await prepare(addressOf(server, unfinished));
  await client.query(`alter database ${unfinished} rename to ${name}`);
  await client.query("select pg_advisory_unlock($1)", [TEMPLATE_LOCK]);
}

async function exists(client: Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [database]);
  return rowCount === 1;
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function addressOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
