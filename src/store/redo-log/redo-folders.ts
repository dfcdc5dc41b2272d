import { existsSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readFrames } from "./frames.ts";

/** The folder of the redo logs of all workers of the database in this file. */
export function redoFolder(databaseFile: string): string {
  return `${databaseFile}.redo`;
}

const SEALED = ".sealed";
const POSITION_DIGITS = 16;

/** The folder of one worker's redo log. */
export function workerFolder(folder: string, worker: number): string {
  return join(folder, String(worker));
}

/** The name of the segment that begins at this position. Names sort by position. */
export function segmentName(position: number): string {
  return String(position).padStart(POSITION_DIGITS, "0");
}

/**
 * The redo logs of dead workers, for whoever takes their runs over. Synchronous, for the store thread: everything
 * happens within the transaction that removes the worker.
 */
export class RedoFolders {
  readonly #folder: string;

  constructor(databaseFile: string) {
    this.#folder = redoFolder(databaseFile);
  }

  /**
   * The changes of a worker's log from a position on, as JSON. Seals the log first: what a paused process writes
   * afterwards lies in files that nobody reads.
   */
  read(worker: number, from: number): readonly string[] {
    const folder = workerFolder(this.#folder, worker);
    const sealedFolder = folder + SEALED;
    if (existsSync(folder) && !existsSync(sealedFolder)) renameSync(folder, sealedFolder);
    return existsSync(sealedFolder) ? readSegments(sealedFolder, from) : [];
  }

  /** Removes the log of a worker that is no longer in the list of workers. */
  remove(worker: number): void {
    const folder = workerFolder(this.#folder, worker);
    for (const name of [folder, folder + SEALED]) rmSync(name, { recursive: true, force: true });
    if (existsSync(this.#folder) && readdirSync(this.#folder).length === 0) rmdirSync(this.#folder);
  }

  /** Each worker that has a log. */
  list(): readonly number[] {
    if (!existsSync(this.#folder)) return [];
    return [...new Set(readdirSync(this.#folder).map((name) => Number.parseInt(name, 10)))].filter(
      Number.isSafeInteger,
    );
  }

  /** The position at which a worker's log ends; 0 if it has none. Another process may be writing it. */
  endOf(worker: number): number {
    const folder = workerFolder(this.#folder, worker);
    try {
      const last = readdirSync(folder).toSorted().at(-1);
      return last === undefined ? 0 : Number(last) + statSync(join(folder, last)).size;
    } catch {
      return 0; // It was sealed or removed meanwhile, so its changes are in the database.
    }
  }
}

function readSegments(folder: string, from: number): readonly string[] {
  const texts: string[] = [];
  let position: number | null = null;
  for (const name of readdirSync(folder).toSorted()) {
    const start = Number(name);
    if (position !== null && start !== position) break; // The segment before is damaged.
    position = start;
    for (const { text, end } of readFrames(readFileSync(join(folder, name)))) {
      position = start + end;
      if (position > from) texts.push(text);
    }
  }
  return texts;
}
