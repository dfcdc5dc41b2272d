import { assertNever } from "@antiphon/base/assert.ts";
import { randomHex } from "@antiphon/base/ids.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { RunHost, Subscription } from "../runs/index.ts";
import type { Neighbours, RunPlaces } from "../runs/reading/neighbours.ts";
import { type BusMessage, type RunSubscription, readMessage, writeMessage } from "./bus-message.ts";
import { DistantRuns } from "./following/distant-runs.ts";
import type { FollowedRun } from "./following/followed-run.ts";
import { type Broker, type BusObserver, EVERYONE, peerChannel, workerChannel } from "./ports.ts";
import { PublishedRuns } from "./publishing/published-runs.ts";

/** The interval of periodic work, in milliseconds. */
const TICK_MS = 200;
/** The number of ticks between checks of this worker's number, which changes when the lease was lost. */
const TICKS_PER_NUMBER = 5;
/** After this many milliseconds without a tick, this process was itself too busy to receive messages. */
const HELD_UP_MS = 2 * TICK_MS;
/** The maximum runs per message, so that it fits every broker. */
const NAMED_RUNS_MAX = 64;
/** Announcements of work within this time, in milliseconds, are merged, because everyone then polls the database. */
const TELL_WORK_MS = 20;
/** The number of digits in a process's name. */
const PEER_DIGITS = 16;

export interface RunBusParts {
  readonly broker: Broker;
  readonly places: RunPlaces;
  readonly runs: Pick<RunHost, "subscribe">;
  readonly observer: BusObserver;
  readonly log: Logger;
}

/** The server's reactions to messages. */
export interface BusDuties {
  /** Checks whether these runs have a requested stop or were deleted. */
  lookForStops(responseIds: readonly string[]): void;
  /** Looks for runs that nobody makes, if there is room for one. */
  lookForWork(): void;
  /** Looks for runs that nobody makes and that only need to be ended. */
  lookForStopped(): void;
  /** Clears the cache of keys. */
  forgetKeys(): void;
}

/**
 * Publishes the events of this process's runs to other processes, and receives theirs. A lost message costs at most a
 * second, because the database has everything too.
 */
export class RunBus implements Neighbours {
  readonly #broker: Broker;
  readonly #parts: RunBusParts;
  readonly #peer = randomHex(PEER_DIGITS);
  readonly #publishedRuns: PublishedRuns;
  readonly #distant: DistantRuns;
  #duties: Partial<BusDuties> = {};
  #worker: number | null = null;
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;
  #tickedAt = 0;
  #series = 0;
  #isAboutToTellWork = false;

  constructor(parts: RunBusParts) {
    const { broker, places, runs, observer } = parts;
    this.#broker = broker;
    this.#parts = parts;
    const now = (): number => Math.round(performance.now());
    this.#publishedRuns = new PublishedRuns({
      textBytesMax: broker.textBytesMax,
      worker: () => this.#worker,
      send: (peer, text) => this.#sendText(peerChannel(peer), text),
      newSeries: () => `${this.#peer}.${(this.#series += 1)}`,
      subscribe: (responseId) => runs.subscribe(responseId),
      now,
    });
    this.#distant = new DistantRuns({
      places,
      now,
      ask: (worker, followedRuns) => this.#ask(worker, followedRuns, now()),
      unask: (worker, id) => this.#send(workerChannel(worker), { type: "unwatch", from: this.#peer, ids: [id] }),
      noteAnswer: (ms) => observer.noteAnswer(ms),
      caughtUp: (reason) => observer.caughtUp(reason),
      onFault: (fault) => this.#logFault(fault),
    });
  }

  /** The runs followed here, the runs published from here, and the workers followed by polling. */
  get load(): { readonly watchedRuns: number; readonly publishedRuns: number; readonly silentWorkers: number } {
    const { runs, silentWorkers } = this.#distant.load;
    return { watchedRuns: runs, publishedRuns: this.#publishedRuns.size, silentWorkers };
  }

  get isConnected(): boolean {
    return this.#broker.isConnected;
  }

  /** Starts receiving. Rejects if the database does not return this worker's number. */
  async start(): Promise<void> {
    this.#broker.open((text) => this.#hear(text));
    this.#broker.join(EVERYONE);
    this.#broker.join(peerChannel(this.#peer));
    await this.#followNumber();
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Adds reactions. Until then, messages have no effect. */
  accept(duties: Partial<BusDuties>): void {
    this.#duties = { ...this.#duties, ...duties };
  }

  subscribe(responseId: string, after: number): Subscription {
    return this.#distant.read(responseId, after);
  }

  settle(): Promise<void> {
    return this.#parts.places.settle();
  }

  waitForEnd(responseId: string, signal: AbortSignal): Promise<void> {
    return this.#distant.waitForEnd(responseId, signal);
  }

  tellStop(responseId: string): void {
    this.#send(EVERYONE, { type: "stop", ids: [responseId] });
    void this.#claimIfUnmade(responseId).catch((fault: unknown) => this.#logFault(fault));
  }

  tellWork(): void {
    if (this.#isAboutToTellWork) return;
    this.#isAboutToTellWork = true;
    setTimeout(() => {
      this.#isAboutToTellWork = false;
      this.#send(EVERYONE, { type: "work" });
    }, TELL_WORK_MS).unref();
  }

  tellTaken(responseIds: readonly string[]): void {
    this.#distant.hearTaken(responseIds);
    for (let start = 0; start < responseIds.length; start += NAMED_RUNS_MAX)
      this.#send(EVERYONE, { type: "taken", ids: responseIds.slice(start, start + NAMED_RUNS_MAX) });
  }

  /** Ends all subscriptions and sends waiting messages. */
  async close(): Promise<void> {
    if (this.#isAboutToTellWork) this.#send(EVERYONE, { type: "work" });
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#publishedRuns.clear();
    this.#distant.clear();
    await this.#broker.close();
  }

  #tick(): void {
    const now = performance.now();
    const wasHeldUp = now - this.#tickedAt > HELD_UP_MS;
    this.#tickedAt = now;
    this.#publishedRuns.tick();
    if (!wasHeldUp) this.#distant.tick(); // Messages sent meanwhile are still to be received.
    this.#ticks += 1;
    if (this.#ticks % TICKS_PER_NUMBER === 0)
      void this.#followNumber().catch((fault: unknown) => this.#logFault(fault));
  }

  async #followNumber(): Promise<void> {
    const worker = await this.#parts.places.ownWorker();
    if (worker === this.#worker) return;
    if (this.#worker !== null) {
      this.#broker.leave(workerChannel(this.#worker));
      this.#publishedRuns.clear(); // The runs of the old number are lost.
    }
    this.#worker = worker;
    this.#broker.join(workerChannel(worker));
  }

  /** A run that nobody makes is stopped by the worker that claims it. */
  async #claimIfUnmade(responseId: string): Promise<void> {
    const [place] = await this.#parts.places.find([responseId]);
    if (place !== undefined && !place.isOver && place.worker === null) this.#duties.lookForStopped?.();
  }

  #ask(worker: number, followedRuns: readonly FollowedRun[], sentAt: number): void {
    for (let start = 0; start < followedRuns.length; start += NAMED_RUNS_MAX) {
      const runs = followedRuns
        .slice(start, start + NAMED_RUNS_MAX)
        .map((run): RunSubscription => ({ id: run.id, after: run.after }));
      this.#send(workerChannel(worker), { type: "watch", from: this.#peer, sentAt, runs });
    }
  }

  #send(channel: string, message: BusMessage): void {
    this.#sendText(channel, writeMessage(message));
  }

  #sendText(channel: string, text: string): void {
    if (this.#broker.send(channel, text)) this.#parts.observer.countSent();
  }

  #hear(text: string): void {
    const message = readMessage(text);
    if (message === null) return this.#parts.observer.countDrop("unread");
    this.#parts.observer.countReceived();
    switch (message.type) {
      case "watch":
        return this.#publishedRuns.watch(message.from, message.sentAt, message.runs);
      case "unwatch":
        return this.#publishedRuns.unwatch(message.from, message.ids);
      case "news":
        return this.#distant.hear(message);
      case "stop":
        return this.#duties.lookForStops?.(message.ids);
      case "taken":
        return this.#distant.hearTaken(message.ids);
      case "work":
        return this.#duties.lookForWork?.();
      case "keys":
        return this.#duties.forgetKeys?.();
      default:
        return assertNever(message);
    }
  }

  #logFault(fault: unknown): void {
    this.#parts.log.warn({ err: fault }, "could not poll the database for events of other servers");
  }
}
