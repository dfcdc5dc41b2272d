import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { textLength } from "./text-length.ts";

/** A commit that writes more than this does not copy the log itself. */
const LARGE_CHARACTERS = 8 * 1024 * 1024;
/** A commit copies the log into the database once it has this many pages of 4 KiB. This is SQLite's own default. */
const LOG_PAGES_USUAL = 1_000;
/** The same while a thread is to copy the log, so that the log cannot grow without end. */
const LOG_PAGES_MAX = 64 * 1024;

/**
 * Copies the write-ahead log into the database after large commits. This takes about 2 ms per MB and SQLite would do it
 * as part of the commit, while the whole process waits. Therefore a thread does it, with its own connection. If the
 * thread fails, the next commit does it.
 */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #file: string;
  /** Characters that the current transaction has written. */
  #written = 0;
  #logPagesMax = 0;
  /** Whether a large commit was made since the thread started. */
  #isDue = false;
  #thread: Promise<void> | null = null;

  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
    this.#letLogGrowTo(LOG_PAGES_USUAL);
  }

  /** Must be called before each statement. */
  beforeStatement(parameters: readonly unknown[]): void {
    this.#written += textLength(parameters);
    if (this.#isLarge) this.#letLogGrowTo(LOG_PAGES_MAX);
  }

  /** Must be called after each transaction and after each statement outside of one. */
  afterTransaction(): void {
    this.#isDue ||= this.#isLarge;
    this.#written = 0;
    if (this.#isDue && this.#thread === null) this.#startThread();
  }

  /** Waits for the thread. */
  async close(): Promise<void> {
    while (this.#thread !== null) await this.#thread;
  }

  get #isLarge(): boolean {
    return this.#written > LARGE_CHARACTERS;
  }

  #startThread(): void {
    this.#isDue = false;
    this.#thread = copyLog(this.#file)
      .catch(() => {}) // The next commit copies the log.
      .then(() => this.#afterThread());
  }

  #afterThread(): void {
    this.#thread = null;
    if (this.#isDue) this.#startThread();
    else if (!this.#isLarge) this.#letLogGrowTo(LOG_PAGES_USUAL);
  }

  #letLogGrowTo(pages: number): void {
    if (pages === this.#logPagesMax) return;
    this.#database.exec(`pragma wal_autocheckpoint = ${pages}`);
    this.#logPagesMax = pages;
  }
}

async function copyLog(file: string): Promise<void> {
  const worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), {
    workerData: file,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  await new Promise((resolve, reject) => worker.once("error", reject).once("exit", resolve));
}
