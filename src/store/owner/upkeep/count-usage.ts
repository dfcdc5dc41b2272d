import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";

export interface Counted {
  readonly table: string;
  readonly columns: readonly string[];
  /** The function that gives the bytes of a column. */
  readonly size: "octet_length" | "abs";
}

/** The counted bytes per table: the text of a row, or the size of its file. */
export const COUNTED: readonly Counted[] = [
  { table: "responses", columns: ["body"], size: "octet_length" },
  { table: "items", columns: ["body"], size: "octet_length" },
  { table: "conversation_items", columns: ["body"], size: "octet_length" },
  { table: "files", columns: ["bytes"], size: "abs" },
  { table: "vector_store_files", columns: ["usage_bytes"], size: "abs" },
  { table: "container_files", columns: ["bytes"], size: "abs" },
  { table: "skill_versions", columns: ["bytes"], size: "abs" },
  { table: "tool_exchanges", columns: ["arguments", "output", "parts", "item"], size: "octet_length" },
];

/**
 * Installs permanent triggers that count the stored bytes of each owner. At first, counts the existing rows of each
 * table.
 */
export async function countUsage(db: Kysely<Database>): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{
      readonly name: string;
    }>`select name from sqlite_schema where type = 'trigger'`.execute(transaction);
    const triggers = new Set(rows.map(({ name }) => name));
    for (const entry of COUNTED) if (!triggers.has(`${entry.table}_usage_added`)) await countTable(transaction, entry);
  });
}

/** The bytes of these columns as SQL; `row` is empty or ends in a dot. */
export function bytesSql(columns: readonly string[], size: Counted["size"], row = ""): string {
  return columns.map((column) => `coalesce(${size}(${row}${column}), 0)`).join(" + ");
}

async function countTable(db: Kysely<Database>, { table, columns, size }: Counted): Promise<void> {
  const add = (owner: string, bytes: string): string =>
    `insert into owner_usage (organization, project, bytes) values (${owner}.organization, ${owner}.project, ${bytes})
      on conflict (organization, project) do update set bytes = bytes + excluded.bytes`;
  const before = bytesSql(columns, size, "old.");
  const after = bytesSql(columns, size, "new.");
  const statements = [
    `create trigger ${table}_usage_added after insert on ${table} begin ${add("new", after)}; end`,
    `create trigger ${table}_usage_changed after update of ${columns.join(", ")} on ${table}
      begin ${add("new", `${after} - (${before})`)}; end`,
    `create trigger ${table}_usage_removed after delete on ${table} begin ${add("old", `-(${before})`)}; end`,
    `insert into owner_usage (organization, project, bytes)
      select organization, project, sum(${bytesSql(columns, size)}) from ${table} where true group by organization, project
      on conflict (organization, project) do update set bytes = bytes + excluded.bytes`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}
