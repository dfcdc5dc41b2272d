import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { isStorageFull } from "@antiphon/base/storage-full.ts";
import { textLength } from "../text-length.ts";
import type { CheckpointResult } from "./checkpoint-worker.ts";

/** The thread copies the log after this many added pages. SQLite's own default. */
const PAGES_DUE = 1_000;
const PAGE_BYTES = 4_096;
/** The approximate number of pages added per transaction besides its text: one per changed table and index. */
const PAGES_PER_TRANSACTION = 4;
/**
 * Beyond this many pages (16 MiB), a transaction copies the rest and restarts the log, which limits its size. That
 * takes about 10 ms; with 256 MiB it took 90.
 */
const LOG_PAGES_MAX = 4 * 1024;

export interface CheckpointOptions {
  readonly logPagesMax?: number;
  /** Called each time most of the log was copied. */
  readonly onCopied?: () => void;
}

/**
 * Copies the write-ahead log into the database from a thread with its own connection. That takes about 2 ms per MB;
 * SQLite itself would copy during a commit, while all others wait. If the thread fails, commits copy the log again.
 */
export class Checkpoints {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #logPagesMax: number;
  readonly #onCopied: () => void;
  /** Characters written by the current transaction. */
  #characters = 0;
  /** The approximate number of pages added since the thread's last copy. */
  #pages = 0;
  #thread: Worker | null = null;
  #working: PromiseWithResolvers<void> | null = null;
  #isLogFull = false;
  /** Whether the thread failed, so that commits copy the log. */
  #isAlone = false;

  constructor(
    database: DatabaseSync,
    file: string,
    { logPagesMax = LOG_PAGES_MAX, onCopied = () => {} }: CheckpointOptions = {},
  ) {
    this.#database = database;
    this.#file = file;
    this.#onCopied = onCopied;
    this.#logPagesMax = logPagesMax;
    this.#database.exec("pragma wal_autocheckpoint = 0");
  }

  /** Call before each statement. */
  beforeStatement(parameters: readonly unknown[]): void {
    this.#characters += textLength(parameters);
  }

  /** Call after each transaction and after each single statement, including `begin`. */
  afterTransaction(): void {
    this.#pages += PAGES_PER_TRANSACTION + this.#characters / PAGE_BYTES;
    this.#characters = 0;
    if (this.#isLogFull && !this.#database.isTransaction) this.#restartLog();
    if (this.#pages >= PAGES_DUE && this.#working === null && !this.#isAlone) this.#ask();
  }

  /** Copies and restarts the log after this transaction. On a full disk, the log then has room again. */
  startLogAgain(): void {
    this.#isLogFull = true;
  }

  /** Waits until the thread has ended. */
  async close(): Promise<void> {
    await this.#working?.promise;
    await this.#thread?.terminate();
    this.#thread = null;
  }

  #ask(): void {
    this.#pages = 0;
    this.#thread ??= this.#startThread();
    this.#working = Promise.withResolvers<void>();
    this.#thread.ref();
    this.#thread.postMessage(null);
  }

  #startThread(): Worker {
    const thread = new Worker(new URL("./checkpoint-worker.ts", import.meta.url), {
      workerData: this.#file,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    thread.on("message", ({ log }: CheckpointResult) => {
      this.#isLogFull = log > this.#logPagesMax;
      this.#rest();
      this.#onCopied();
    });
    thread.once("error", () => this.#fallBack());
    return thread;
  }

  #rest(): void {
    this.#thread?.unref();
    this.#working?.resolve();
    this.#working = null;
  }

  /** Lets commits copy the log, as SQLite does by default. */
  #fallBack(): void {
    this.#isAlone = true;
    this.#database.exec(`pragma wal_autocheckpoint = ${PAGES_DUE}`);
    this.#rest();
  }

  /** Most of the log was just copied, so this is fast. It has no effect while another process reads the log. */
  #restartLog(): void {
    this.#isLogFull = false;
    try {
      this.#database.exec("pragma wal_checkpoint(restart)");
    } catch (error) {
      if (!isStorageFull(error)) throw error; // The disk is full; the next copy may find room.
    }
  }
}
