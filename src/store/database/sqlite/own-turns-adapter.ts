import { SqliteAdapter } from "kysely";

/** For drivers that let callers take turns themselves. */
export class OwnTurnsAdapter extends SqliteAdapter {
  /** Otherwise Kysely runs one statement at a time, and all that wait look for their turn after each of them. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}
