import cluster from "node:cluster";
import { assert } from "@antiphon/base/assert.ts";
import type { RateAsk, RateCorrection, RateGrant, RatePlace } from "../rate-limits/shared-counts.ts";
import type { RateCounter } from "../rate-limits/shared-rates.ts";
import { Calls } from "./calls.ts";
import { type Greeting, isToProcess, type Seat, type ToPrimary, type ToProcess } from "./messages.ts";

/** How long the primary may take to reply, in milliseconds. */
const JOIN_TIMEOUT_MS = 30_000;
const RATE_TIMEOUT_MS = 1_000;
const SCRAPE_TIMEOUT_MS = 3_000;

/** The reactions of this process's server to the primary. */
export interface Duties {
  /** Returns the rest of a block. */
  recall(place: RatePlace): number;
  /** The metrics of this process. */
  measure(): Promise<string>;
  /** Receives a text from a joined channel. */
  hear(text: string): void;
  /** Finishes open work and ends. `isReplaced`: another process already serves in its place. */
  leave(isReplaced: boolean): void;
}

/** Whether a primary started this process to serve. */
export function isForked(): boolean {
  return cluster.isWorker;
}

/** Joins the other processes; null if this process serves alone. */
export async function joinProcesses(): Promise<JoinedProcess | null> {
  if (!isForked()) return null;
  process.on("SIGHUP", () => {}); // A terminal sends it to all processes; only the primary reacts.
  const joinedProcess = new JoinedProcess();
  process.prependOnceListener("disconnect", () => joinedProcess.onDisconnect());
  await joinedProcess.join();
  return joinedProcess;
}

/** One of several serving processes, from its own side. */
export class JoinedProcess implements RateCounter {
  readonly #seats = new Calls<Seat>();
  readonly #grants = new Calls<RateGrant>();
  readonly #scrapes = new Calls<string>();
  #duties: Partial<Duties> = {};
  #seat: Seat | null = null;
  /** The order to leave, once received. */
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

  /** Adds reactions. Until then, the primary gets no reply, and leaving waits. */
  accept(duties: Partial<Duties>): void {
    this.#duties = { ...this.#duties, ...duties };
    if (this.#order !== null) duties.leave?.(this.#order.isReplaced);
  }

  announce(greeting: Greeting): void {
    sendToPrimary({ type: "serving", greeting });
  }

  /** Adds a line to the banner after it was printed. */
  tell(line: string): void {
    if (process.connected) sendToPrimary({ type: "told", line });
  }

  take(ask: RateAsk): Promise<RateGrant | null> {
    return this.#grants.ask((call) => sendToPrimary({ type: "takeRate", call, ask }), RATE_TIMEOUT_MS);
  }

  correct(correction: RateCorrection): void {
    sendToPrimary({ type: "correctRate", correction });
  }

  /** The metrics of all processes, including this one's `text`; null if the primary does not reply in time. */
  scrape(text: string): Promise<string | null> {
    return this.#scrapes.ask((call) => sendToPrimary({ type: "scrape", call, text }), SCRAPE_TIMEOUT_MS);
  }

  joinChannel(channel: string): void {
    sendToPrimary({ type: "joinChannel", channel });
  }

  leaveChannel(channel: string): void {
    sendToPrimary({ type: "leaveChannel", channel });
  }

  /** Sends a text to all processes on a channel, including this one. `onSent`: called when it was written. */
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

  /** The primary is gone. A normal exit could wait forever to write the log, which nobody reads any more. */
  onDisconnect(): void {
    if (!this.#isEnding) process.kill(process.pid, "SIGKILL");
  }

  #receive(message: ToProcess): void {
    switch (message.type) {
      case "seat":
        this.#seat = message.seat; // Before the wait: the next message may change it.
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
        // A block granted in the same turn must be known first.
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

/** A process exits when its primary is gone. */
function sendToPrimary(message: ToPrimary, onSent?: () => void): void {
  if (process.connected) process.send?.(message, onSent ?? (() => {}));
  else onSent?.();
}
