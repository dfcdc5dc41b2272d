import {
  type Dialect,
  type DialectAdapter,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawNode,
} from "kysely";
import type { Pool } from "pg";
import { postgresForm } from "../dialectal.ts";
import { PostgresDriver } from "./postgres-driver.ts";

/** A Kysely dialect over a pool of connections. */
export function postgresDialect(pool: Pool): Dialect {
  return {
    createDriver: (): Driver => new PostgresDriver(pool),
    createAdapter: (): DialectAdapter => new PostgresAdapter(),
    createQueryCompiler: () => new Compiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

/** Writes `dialectal` nodes in their PostgreSQL form. */
class Compiler extends PostgresQueryCompiler {
  protected override visitRaw(node: RawNode): void {
    const form = postgresForm(node);
    if (form === null) super.visitRaw(node);
    else this.visitNode(form);
  }
}
