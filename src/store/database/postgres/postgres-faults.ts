import { InvariantError } from "../../../base/assert.ts";
import { StoreSpoilt } from "../../../domain/storage.ts";
import { StoreAway } from "../../../runs/ports/store-faults.ts";

/** The connection ended while a statement was under way, so it is unknown whether the statement had an effect. */
export class ConnectionLost extends StoreAway {}

/** Classes of SQLSTATE, and single ones, that say that PostgreSQL cannot do it now. */
const BUSY = /^(?:08|53|57|40001|40P01|25P03|25006|55P03)/;
/** Damaged data or indexes. */
const SPOILT = /^XX00[12]/;
/** After these the connection ends, or can write no more. */
const ENDS_CONNECTION = /^(?:08|57P|25P03|25006)/;
/** What a prepared statement answers after a migration has changed a table that it reads. */
const OLD_PLAN = "0A000";
const FOREIGN_KEY_VIOLATION = "23503";
const DEADLOCK = "40P01";
/** PostgreSQL looks for deadlocks after a second of waiting, so callers wait for some seconds at most. */
const DEADLOCKS_MAX = 3;

/** The five characters by which PostgreSQL names an error; null for errors that did not come from it. */
export function sqlStateOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("severity" in error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Whether nothing more can be asked on the connection on which this happened. */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === null ? !isOwnFault(error) : ENDS_CONNECTION.test(state);
}

/** Whether the statement was wrong already here. */
function isOwnFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof InvariantError;
}

/** Whether a prepared statement cannot be used any more, since a table has changed. */
export function isOldPlan(error: unknown): boolean {
  const cause = error instanceof StoreAway ? error.cause : error;
  return sqlStateOf(cause) === OLD_PLAN && cause instanceof Error && cause.message.startsWith("cached plan");
}

/** Whether a row was refused because the row that it belongs to is gone. */
export function isWithoutParent(error: unknown): boolean {
  return sqlStateOf(error) === FOREIGN_KEY_VIOLATION;
}

/** Does this again if PostgreSQL ended it because it and another transaction waited for each other. */
export async function againAfterDeadlock<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let time = 1; ; time++) {
    try {
      return await work();
    } catch (error) {
      const isDeadlock = error instanceof Error && sqlStateOf(error.cause) === DEADLOCK;
      if (!isDeadlock || time === DEADLOCKS_MAX) throw error;
    }
  }
}

/** The error that callers get. Says nothing of the address, the user or the password. */
export function translateFault(error: unknown): unknown {
  const state = sqlStateOf(error);
  if (state === null && isOwnFault(error)) return error;
  if (state === null) return new ConnectionLost("The connection to the database was lost.", { cause: error });
  if (SPOILT.test(state)) return new StoreSpoilt(`The database is damaged (${state}).`, { cause: error });
  if (ENDS_CONNECTION.test(state))
    return new ConnectionLost(`The database ended the connection (${state}).`, { cause: error });
  return BUSY.test(state) || isOldPlan(error)
    ? new StoreAway(`The database is busy (${state}).`, { cause: error })
    : error;
}
