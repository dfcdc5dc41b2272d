import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseCalls } from "../../owner/database-calls.ts";
import { type OwnWorkers, ownNumber } from "../../owner/workers/own-workers.ts";
import { RedoFolders } from "../../redo-log/redo-folders.ts";

/** How often the positions of other workers are read, in milliseconds. */
const LOOK_MS = 10;
/** How long their changes are waited for, in milliseconds. The runs of a dead worker are taken over within a second. */
const WAIT_MS_MAX = 2_000;

interface RedoPositionRow {
  readonly id: number;
  readonly redo_position: number;
}

/** The redo logs of the other processes that use the same database. */
export class OtherRedoLogs {
  readonly #folders: RedoFolders;
  readonly #own: OwnWorkers;
  readonly #calls: Pick<DatabaseCalls, "query">;

  constructor(databaseFile: string, own: OwnWorkers, calls: Pick<DatabaseCalls, "query">) {
    this.#folders = new RedoFolders(databaseFile);
    this.#own = own;
    this.#calls = calls;
  }

  /**
   * Resolves once the database has the changes that these logs have now, or after a while. Resolves to false if there
   * are no such logs.
   */
  async settle(): Promise<boolean> {
    const own = ownNumber(this.#own);
    const ends = new Map(this.#folders.list().map((worker) => [worker, this.#folders.endOf(worker)]));
    ends.delete(own);
    if (ends.size === 0) return false;
    const until = performance.now() + WAIT_MS_MAX;
    while (!(await this.#haveReached(ends)) && performance.now() < until) await sleep(LOOK_MS);
    return true;
  }

  /** Whether each worker that is still listed has stored its log up to its end. */
  async #haveReached(ends: ReadonlyMap<number, number>): Promise<boolean> {
    const { rows } = await this.#calls.query({ sql: "select id, redo_position from workers", parameters: [] });
    return rows.every(({ id, redo_position: position }: RedoPositionRow) => position >= (ends.get(id) ?? 0));
  }
}
