import { InvariantError } from "@antiphon/base/assert.ts";
import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import { StoreAway } from "../../../runs/ports/store-faults.ts";

/** The connection ended during a statement, so it is unknown whether the statement had an effect. */
export class ConnectionLost extends StoreAway {}

/** Classes and codes of SQLSTATE for temporary failures of PostgreSQL. */
const BUSY = /^(?:08|53|57|40001|40P01|25P03|25006|55P03)/;
/** Damaged data or indexes. */
const SPOILT = /^XX00[12]/;
/** After these, the connection ends or can no longer write. */
const ENDS_CONNECTION = /^(?:08|57P|25P03|25006)/;
/** The error of a prepared statement after a migration changed one of its tables. */
const OLD_PLAN = "0A000";
const FOREIGN_KEY_VIOLATION = "23503";
const DEADLOCK = "40P01";
/** PostgreSQL checks for deadlocks after a second of waiting, so callers wait a few seconds at most. */
const DEADLOCKS_MAX = 3;

/** The SQLSTATE of an error; null for errors that are not from PostgreSQL. */
export function sqlStateOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("severity" in error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}

/** Whether this error makes the connection unusable. */
export function endsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === null ? !isOwnFault(error) : ENDS_CONNECTION.test(state);
}

/** Whether the statement was already invalid on this side. */
function isOwnFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof InvariantError;
}

/** Whether a prepared statement is invalid because a table has changed. */
export function isOldPlan(error: unknown): boolean {
  const cause = error instanceof StoreAway ? error.cause : error;
  return sqlStateOf(cause) === OLD_PLAN && cause instanceof Error && cause.message.startsWith("cached plan");
}

/** Whether a row was rejected because its parent row is gone. */
export function isWithoutParent(error: unknown): boolean {
  return sqlStateOf(error) === FOREIGN_KEY_VIOLATION;
}

/** Repeats the work if PostgreSQL cancelled it because of a deadlock. */
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

/** The error for callers, without address, user and password. */
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
