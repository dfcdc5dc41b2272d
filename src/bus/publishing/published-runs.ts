import type { Subscription } from "../../runs/index.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { linesOf, packEvents } from "../../store/rows/events/event-block.ts";
import type { RunSubscription, UpdateItem } from "../bus-message.ts";
import { type MeasuredItem, measureItem, Outbox } from "./outbox.ts";

/** The lifetime of a subscription without renewal, in milliseconds. */
export const SUBSCRIPTION_MS = 30_000;
/** A receiver without messages for this long gets an empty one, in milliseconds. */
const HEARTBEAT_MS = 400;
/** The maximum of subscribed processes. Others poll the database. */
const RECEIVERS_MAX = 1_000;

export interface Teller {
  readonly textBytesMax: number;
  /** The number of this worker; null until it is known. */
  worker(): number | null;
  send(peer: string, text: string): void;
  /** A name that is unique to this count of messages. */
  newSeries(): string;
  /** Subscribes to a run of this process; null if another one makes it. */
  subscribe(responseId: string): Subscription | null;
  now(): number;
}

/** A process that subscribes to runs of this one. */
interface Receiver {
  readonly peer: string;
  readonly box: Outbox;
  readonly runs: Set<PublishedRun>;
  toldAt: number;
}

interface Watch {
  /** False if only the end of the run is needed. */
  readonly isInEvents: boolean;
  until: number;
}

interface PublishedRun {
  readonly id: string;
  readonly subscription: Subscription;
  readonly receivers: Map<Receiver, Watch>;
  /** The number of the last event sent. */
  last: number;
}

/** Publishes stored events of this process's runs to other processes. */
export class PublishedRuns {
  readonly #teller: Teller;
  readonly #receivers = new Map<string, Receiver>();
  readonly #runs = new Map<string, PublishedRun>();
  /** Receivers whose items wait for the end of this turn of the event loop. */
  readonly #waiting = new Set<Receiver>();

  constructor(teller: Teller) {
    this.#teller = teller;
  }

  /** The number of runs with remote subscribers. */
  get size(): number {
    return this.#runs.size;
  }

  watch(peer: string, sentAt: number, runs: readonly RunSubscription[]): void {
    const receiver = this.#receivers.get(peer) ?? this.#addReceiver(peer);
    if (receiver === null) return;
    receiver.box.answer(sentAt);
    for (const run of runs) this.#watchOne(receiver, run);
    this.#wait(receiver);
  }

  unwatch(peer: string, ids: readonly string[]): void {
    const receiver = this.#receivers.get(peer);
    if (receiver === undefined) return;
    for (const id of ids) {
      const run = this.#runs.get(id);
      if (run !== undefined) this.#forget(run, receiver);
    }
  }

  /** Call a few times per second. */
  tick(): void {
    const now = this.#teller.now();
    for (const receiver of this.#receivers.values()) {
      for (const run of receiver.runs) {
        const watch = run.receivers.get(receiver);
        if (watch === undefined || watch.until <= now) this.#forget(run, receiver);
      }
      if (receiver.runs.size > 0 && now - receiver.toldAt >= HEARTBEAT_MS) this.#wait(receiver);
    }
  }

  /** Forgets all subscribers, because this worker has a new number or ends. */
  clear(): void {
    for (const run of this.#runs.values()) run.subscription.close();
    this.#runs.clear();
    this.#receivers.clear();
    this.#waiting.clear();
  }

  #addReceiver(peer: string): Receiver | null {
    if (this.#receivers.size >= RECEIVERS_MAX) return null;
    const box = new Outbox(this.#teller.newSeries(), this.#teller.textBytesMax);
    const receiver: Receiver = { peer, box, runs: new Set(), toldAt: this.#teller.now() };
    this.#receivers.set(peer, receiver);
    return receiver;
  }

  #watchOne(receiver: Receiver, { id, after }: RunSubscription): void {
    const run = this.#runs.get(id) ?? this.#addRun(id);
    if (run === null) return receiver.box.add(this.#measure({ type: "left", id }));
    run.receivers.set(receiver, { isInEvents: after !== null, until: this.#teller.now() + SUBSCRIPTION_MS });
    receiver.runs.add(run);
    receiver.box.add(this.#measure({ type: "watched", id, last: run.last }));
  }

  #addRun(id: string): PublishedRun | null {
    const subscription = this.#teller.subscribe(id);
    if (subscription === null) return null;
    const run: PublishedRun = { id, subscription, receivers: new Map(), last: subscription.shownBefore };
    this.#runs.set(id, run);
    void this.#tell(run);
    return run;
  }

  /** Never rejects: a subscription does not. */
  async #tell(run: PublishedRun): Promise<void> {
    const { subscription, id } = run;
    for (let events = await subscription.next(); events !== null; events = await subscription.next()) {
      const isLagging = subscription.takeLagged();
      const first = events[0];
      if (isLagging)
        this.#addForReaders(run, { type: "logged", id, last: first === undefined ? -1 : first.number - 1 });
      if (first !== undefined) this.#addForReaders(run, ...updateItems(run, events));
    }
    if (this.#runs.get(id) !== run) return; // It has no subscriber any more.
    const item = this.#measure({ type: "left", id });
    for (const receiver of run.receivers.keys()) {
      this.#add(receiver, item);
      this.#forget(run, receiver);
    }
  }

  #addForReaders(run: PublishedRun, ...items: readonly UpdateItem[]): void {
    const readers = [...run.receivers].flatMap(([receiver, { isInEvents }]) => (isInEvents ? [receiver] : []));
    for (const item of items.map((one) => this.#measure(one)))
      for (const receiver of readers) this.#add(receiver, item);
  }

  #add(receiver: Receiver, item: MeasuredItem): void {
    receiver.box.add(item);
    this.#wait(receiver);
  }

  #measure(item: UpdateItem): MeasuredItem {
    return measureItem(item, this.#teller.textBytesMax);
  }

  /** One commit stores events of many runs, and they are sent together. */
  #wait(receiver: Receiver): void {
    if (this.#waiting.size === 0) setImmediate(() => this.#sendAll());
    this.#waiting.add(receiver);
  }

  #sendAll(): void {
    const worker = this.#teller.worker();
    const receivers = [...this.#waiting];
    this.#waiting.clear();
    if (worker === null) return;
    for (const receiver of receivers) {
      receiver.toldAt = this.#teller.now();
      for (const text of receiver.box.take(worker)) this.#teller.send(receiver.peer, text);
      if (receiver.runs.size === 0) this.#receivers.delete(receiver.peer);
    }
  }

  #forget(run: PublishedRun, receiver: Receiver): void {
    run.receivers.delete(receiver);
    receiver.runs.delete(run);
    if (receiver.runs.size === 0 && !this.#waiting.has(receiver)) this.#receivers.delete(receiver.peer);
    if (run.receivers.size > 0) return;
    this.#runs.delete(run.id);
    run.subscription.close();
  }
}

/** The events of a run, packed. Records the last one. */
function updateItems(run: PublishedRun, events: readonly RecordedEvent[]): readonly UpdateItem[] {
  const { id } = run;
  run.last = events.at(-1)?.number ?? run.last;
  return packEvents(events).map((block) => {
    const { firstNumber: first, lastNumber: last } = block;
    return { type: "events", id, first, last, lines: linesOf([block]) };
  });
}
