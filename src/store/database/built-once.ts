import { assert } from "@antiphon/base/assert.ts";
import { type CompiledQuery, type Kysely, type QueryResult, type RawBuilder, sql } from "kysely";
import type { Database } from "./schema.ts";
import { type IdValue, timeFirst } from "./time-first.ts";

/** Placeholders for the values that a query gets each time it runs. */
export interface StandIns<Names extends object> {
  value<Name extends keyof Names & string>(name: Name): RawBuilder<Names[Name]>;
  /** The value of a name that is an id, for `isId`. */
  id(name: keyof Names & string): IdValue;
}

/** A query whose SQL is built once per database, because building can take longer than running. */
export type BuiltOnce<Names extends object, Row> = (db: Kysely<Database>, values: Names) => Promise<QueryResult<Row>>;

export function builtOnce<Names extends object, Row>(
  build: (db: Kysely<Database>, params: StandIns<Names>) => CompiledQuery<Row>,
): BuiltOnce<Names, Row> {
  const queries = new WeakMap<object, CompiledQuery<Row>>();
  const readers: ((values: Names) => unknown)[] = [];
  const standIns = standInsFor(readers);
  return (db, values) => {
    const { adapter } = db.getExecutor(); // Shared by a database and its transactions.
    const query = queries.get(adapter) ?? build(db, standIns);
    queries.set(adapter, query);
    const parameters = query.parameters.map((value) =>
      value instanceof StandIn ? readers[value.index]?.(values) : value,
    );
    return db.executeQuery({ ...query, parameters });
  };
}

class StandIn {
  readonly index: number;

  constructor(index: number) {
    this.index = index;
  }
}

function standInsFor<Names extends object>(readers: ((values: Names) => unknown)[]): StandIns<Names> {
  const standIn = <Type>(read: (values: Names) => unknown): RawBuilder<Type> =>
    sql<Type>`${new StandIn(readers.push(read) - 1)}`;
  return {
    value: (name) => standIn((values) => values[name]),
    id: (name) => ({
      id: standIn((values) => values[name]),
      timeFirst: standIn((values) => {
        const id = values[name];
        assert(typeof id === "string", "an id is text");
        return timeFirst(id);
      }),
    }),
  };
}
