import cluster from "node:cluster";
import { assert } from "../base/assert.ts";
import type { RateAsk, RateCorrection, RateGrant, RatePlace } from "../rate-limits/shared-counts.ts";
import type { RateCounter } from "../rate-limits/shared-rates.ts";
import { Calls } from "./calls.ts";
import { type Greeting, isToProcess, type Seat, type ToPrimary, type ToProcess } from "./messages.ts";

/** How long the primary may take to answer, in milliseconds. */
const JOIN_TIMEOUT_MS = 30_000;
const RATE_TIMEOUT_MS = 1_000;
const SCRAPE_TIMEOUT_MS = 3_000;

/** What the server of this process does when the primary asks it. */
export interface Duties {
  /** Gives up the rest of a block. */
  recall(place: RatePlace): number;
  /** The metrics of this process. */
  measure(): Promise<string>;
  /** Takes a text from a channel that this process has joined. */
  hear(text: string): void;
  /** Finishes what is open and ends. If it is replaced, another process already serves in its place. */
  leave(isReplaced: boolean): void;
}

/** Whether a primary started this process to serve. */
export function isForked(): boolean {
  return cluster.isWorker;
}

/** Joins the processes of which this is one; null if it serves alone. */
export async function joinProcesses(): Promise<JoinedProcess | null> {
  if (!isForked()) return null;
  process.on("SIGHUP", () => {}); // A terminal sends it to all processes; the primary acts on it.
  const joined = new JoinedProcess();
  process.prependOnceListener("disconnect", () => joined.onDisconnect());
  await joined.join();
  return joined;
}

/** One of several serving processes, as it sees itself. */
export class JoinedProcess implements RateCounter {
  readonly #seats = new Calls<Seat>();
  readonly #grants = new Calls<RateGrant>();
  readonly #scrapes = new Calls<string>();
  #duties: Partial<Duties> = {};
  #seat: Seat | null = null;
  /** The order to leave, once it came. */
  #order: { readonly isReplaced: boolean } | null = null;
  #isEnding = false;

  get seat(): Seat {
    assert(this.#seat !== null, "a process has its seat before anything is built");
    return this.#seat;
  }

  async join(): Promise<void> {
    process.on("message", (message: unknown) => {
      if (isToProcess(message)) this.#receive(message);
    });
    const seat = await this.#seats.ask((call) => sendToPrimary({ type: "join", call }), JOIN_TIMEOUT_MS);
    assert(seat !== null, "the primary gives each process a seat");
  }

  /** Adds duties. Until then the primary gets no answer, and leaving waits. */
  accept(duties: Partial<Duties>): void {
    this.#duties = { ...this.#duties, ...duties };
    if (this.#order !== null) duties.leave?.(this.#order.isReplaced);
  }

  announce(greeting: Greeting): void {
    sendToPrimary({ type: "serving", greeting });
  }

  /** Adds a line to the banner, once it is printed. */
  tell(line: string): void {
    if (process.connected) sendToPrimary({ type: "told", line });
  }

  take(ask: RateAsk): Promise<RateGrant | null> {
    return this.#grants.ask((call) => sendToPrimary({ type: "takeRate", call, ask }), RATE_TIMEOUT_MS);
  }

  correct(correction: RateCorrection): void {
    sendToPrimary({ type: "correctRate", correction });
  }

  /** The metrics of all processes, given those of this one; null if the primary does not answer in time. */
  scrape(text: string): Promise<string | null> {
    return this.#scrapes.ask((call) => sendToPrimary({ type: "scrape", call, text }), SCRAPE_TIMEOUT_MS);
  }

  joinChannel(channel: string): void {
    sendToPrimary({ type: "joinChannel", channel });
  }

  leaveChannel(channel: string): void {
    sendToPrimary({ type: "leaveChannel", channel });
  }

  /** Sends a text to all processes that have joined a channel, this one included. `onSent`: it was written. */
  sendText(channel: string, text: string, onSent: () => void): void {
    sendToPrimary({ type: "sendText", channel, text }, onSent);
  }

  /** Sends the last metrics and ends this process. */
  async end(): Promise<void> {
    const text = await this.#duties.measure?.();
    if (text !== undefined) sendToPrimary({ type: "measured", call: null, text });
    this.#isEnding = true;
    if (process.connected) process.disconnect(); // This ends a process of a cluster, with code 0.
  }

  /** The primary is gone. An ordinary exit could wait forever to write the log, which nobody reads any more. */
  onDisconnect(): void {
    if (!this.#isEnding) process.kill(process.pid, "SIGKILL");
  }

  #receive(message: ToProcess): void {
    switch (message.type) {
      case "seat":
        this.#seat = message.seat; // Not after the wait for it: the next message may change it.
        return this.#seats.answer(message.call, message.seat);
      case "rateGranted":
        return this.#grants.answer(message.call, message.grant);
      case "scraped":
        return this.#scrapes.answer(message.call, message.text);
      case "speechMoved":
        if (this.#seat !== null) this.#seat = { ...this.#seat, speechUrl: message.url };
        return;
      case "measure":
        return void this.#measure(message.call);
      case "recallBlock":
        // A block that was granted in the same turn must be known first.
        return void setImmediate(() => {
          sendToPrimary({ type: "blockReturned", call: message.call, rest: this.#duties.recall?.(message.place) ?? 0 });
        });
      case "text":
        return this.#duties.hear?.(message.text);
      case "leave":
        this.#order = message;
        return this.#duties.leave?.(message.isReplaced);
    }
  }

  async #measure(call: number): Promise<void> {
    const text = await this.#duties.measure?.();
    if (text !== undefined) sendToPrimary({ type: "measured", call, text });
  }
}

/** A process whose primary is gone ends by itself. */
function sendToPrimary(message: ToPrimary, onSent?: () => void): void {
  if (process.connected) process.send?.(message, onSent ?? (() => {}));
  else onSent?.();
}
