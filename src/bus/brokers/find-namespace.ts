import pg from "pg";
import { BROKER_TIMEOUT_MS } from "./broker-parts.ts";

/** A name that is the same for all servers of a PostgreSQL database, whatever address they use, and unique to it. */
export async function findNamespace(databaseUrl: string): Promise<string> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: BROKER_TIMEOUT_MS,
    query_timeout: BROKER_TIMEOUT_MS,
    application_name: "antiphon bus",
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ readonly name: string }>(
      `select system_identifier || '-' || (select oid from pg_database where datname = current_database()) as name
      from pg_control_system()`,
    );
    return rows[0]?.name ?? "";
  } finally {
    await client.end().catch(() => {});
  }
}
