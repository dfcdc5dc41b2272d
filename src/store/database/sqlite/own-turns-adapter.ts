import { SqliteAdapter } from "kysely";

/** For drivers whose callers take turns by themselves. */
export class OwnTurnsAdapter extends SqliteAdapter {
  /** Otherwise, Kysely runs one statement at a time, and all waiting callers wake up after each. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
