import { setImmediate } from "node:timers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ShortLivedMap } from "@antiphon/base/short-lived-map.ts";
import { StoreStopped } from "../../../runs/ports/store-faults.ts";
import { type RedoPart, sizeOfJob, type WriteJob } from "../../rows/runs/write-job.ts";
import type { DatabaseCalls } from "../database-calls.ts";
import type { OwnWorkers } from "../workers/own-workers.ts";
import { elementsOf, PIECE_CHARACTERS, piecesOf, type SentAhead, withoutLong } from "./long-texts.ts";
import { type CallAnswer, errorOf, type ListPiece, type SentRequest, type TextPiece } from "./messages.ts";
import type { DatabaseOptions } from "./sqlite-owner.ts";

type Result<Name extends keyof DatabaseCalls> = Awaited<ReturnType<DatabaseCalls[Name]>>;

/** Jobs live for one commit, so the thread needs no more room for new objects; without a limit it takes 64 MB. */
const YOUNG_MEGABYTES_MAX = 16;

interface WaitingCall {
  /** Takes `never`, because only the caller knows the type of the result. */
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

let latest: ThreadConnection | null = null;

/**
 * Returns the store thread of this process, and starts it if there is none. All stores of the process share it, because
 * starting a thread takes about 100 ms. It does not keep the process alive.
 */
export function storeThread(): ThreadConnection {
  if (latest === null || latest.hasEnded) latest = new ThreadConnection();
  return latest;
}

/** One store thread, and the calls that wait for its replies. */
export class ThreadConnection {
  readonly #worker: Worker;
  #waiting = new ShortLivedMap<number, WaitingCall>();
  #outgoing: (SentRequest | TextPiece | ListPiece)[] = [];
  #sendingAhead: Promise<void> | null = null;
  #lastId = 0;
  #fault: unknown = null;
  #hasEnded = false;
  /** Resolves when the thread has ended, to the error that ended it, or to null. */
  readonly exit: Promise<unknown>;

  constructor() {
    this.#worker = new Worker(new URL("./store-thread.ts", import.meta.url), {
      env: {},
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES_MAX },
    });
    this.#worker.on("message", (answers: readonly CallAnswer<never>[]) => {
      for (const answer of answers) this.#settle(answer);
    });
    this.#worker.on("error", (error) => {
      this.#fault = error;
    });
    this.exit = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#rejectAll();
        resolve(this.#fault);
      });
    });
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves once the database is open; rejects with the reason if it cannot be opened. */
  open(options: DatabaseOptions, own: OwnWorkers): Promise<null> {
    return this.#request(own.place, "open", [options, own]);
  }

  /** Sends the call together with the others of this turn of the loop. */
  ask<Name extends keyof DatabaseCalls>(
    store: number,
    name: Name,
    ...args: Parameters<DatabaseCalls[Name]>
  ): Promise<Result<Name>> {
    return this.#request(store, name, args);
  }

  /** Sends the jobs at once, because they are already batched. Sends their long parts ahead, over several turns. */
  async commit(store: number, jobs: readonly WriteJob[], redo: RedoPart | null): Promise<Result<"commit">> {
    const size = jobs.reduce((sum, job) => sum + sizeOfJob(job), 0);
    const ahead: SentAhead = { texts: [], lists: [] };
    const short = size <= PIECE_CHARACTERS ? jobs : withoutLong(jobs, ahead);
    while (this.#sendingAhead !== null) await this.#sendingAhead; // Nothing may come between it and its commit.
    if (ahead.texts.length + ahead.lists.length > 0) {
      this.#sendingAhead = this.#sendAhead(store, ahead);
      await this.#sendingAhead;
      this.#sendingAhead = null;
    }
    const outcomes = this.#request<Result<"commit">>(store, "commit", [short, redo]);
    this.send();
    return await outcomes;
  }

  async #sendAhead(store: number, ahead: SentAhead): Promise<void> {
    await this.#sendLists(store, ahead); // First, because this finds texts.
    if (ahead.texts.length > 0) await this.#sendTexts(store, ahead.texts);
  }

  async #sendLists(store: number, ahead: SentAhead): Promise<void> {
    for (const list of ahead.lists) {
      let isFirst = true;
      for (const elements of elementsOf(list, ahead)) {
        this.#outgoing.push({ store, name: "list", elements, isFirst });
        isFirst = false;
        this.send();
        await nextTurn();
      }
    }
  }

  async #sendTexts(store: number, texts: readonly string[]): Promise<void> {
    let characters = 0;
    for (const text of texts) {
      let charactersLeft = text.length;
      for (const piece of piecesOf(text)) {
        charactersLeft -= piece.length;
        characters += piece.length;
        this.#outgoing.push({ store, name: "text", piece, isLast: charactersLeft === 0 });
        if (characters < PIECE_CHARACTERS) continue;
        this.send();
        await nextTurn();
        characters = 0;
      }
    }
  }

  /** Sends the calls queued for the end of this turn. */
  send(): void {
    if (this.#outgoing.length === 0) return;
    const calls = this.#outgoing;
    this.#outgoing = [];
    this.#worker.postMessage(calls);
  }

  /** Ends the thread at once, like a crash. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #request<Answer>(store: number, name: SentRequest["name"], args: readonly unknown[]): Promise<Answer> {
    if (this.#hasEnded) return Promise.reject(stopError());
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#lastId += 1;
    this.#waiting.add(this.#lastId, { resolve, reject });
    if (this.#outgoing.push({ id: this.#lastId, store, name, args }) === 1) setImmediate(() => this.send());
    return promise;
  }

  #settle(answer: CallAnswer<never>): void {
    const call = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#worker.unref(); // An open store alone does not keep a process alive.
    if (answer.ok) call?.resolve(answer.result);
    else call?.reject(errorOf(answer.error));
  }

  #rejectAll(): void {
    this.#hasEnded = true;
    for (const { reject } of this.#waiting.values()) reject(stopError());
    this.#waiting = new ShortLivedMap();
  }
}

function stopError(): StoreStopped {
  return new StoreStopped("The store thread has ended.");
}
