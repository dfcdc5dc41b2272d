import type { Kysely, RawBuilder } from "kysely";
import type { Database } from "../../database/schema.ts";
import type { Statement } from "../../owner/database-calls.ts";

/** The SQL of these statements and their parameters. */
export function compileAll(db: Kysely<Database>, statements: readonly RawBuilder<unknown>[]): readonly Statement[] {
  return statements.map((statement) => {
    const { sql, parameters } = statement.compile(db);
    return { sql, parameters };
  });
}
