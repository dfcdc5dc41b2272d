import { assertNever } from "@antiphon/base/assert.ts";
import { type RateAsk, type RatePlace, SharedCounts } from "../rate-limits/shared-counts.ts";
import { Calls } from "./calls.ts";
import type { ForkedProcess } from "./forked-process.ts";
import type { ToPrimary, ToProcess } from "./messages.ts";

/** The metrics of all processes; `MetricsOfMany` adds them up. */
export interface CommonMetrics {
  update(process: number, text: string): void;
  end(process: number): void;
  text(): string;
}

/** A connected process. */
export interface ConnectedProcess {
  readonly number: number;
  readonly process: ForkedProcess;
  readonly isServing: boolean;
}

export interface SwitchboardOptions {
  /** The number of serving processes. */
  readonly count: number;
  readonly metrics: CommonMetrics;
  readonly peers: () => readonly ConnectedProcess[];
}

const RECALL_TIMEOUT_MS = 200;
const MEASURE_TIMEOUT_MS = 1_000;

/** Answers requests of processes to the primary, and relays messages between processes. */
export class Switchboard {
  readonly #options: SwitchboardOptions;
  readonly #counts: SharedCounts;
  readonly #recalls = new Calls<number>();
  readonly #measurements = new Calls<null>();
  readonly #hearers = new Map<string, Set<ConnectedProcess>>();
  #speechUrl: string | null = null;

  constructor(options: SwitchboardOptions) {
    this.#options = options;
    this.#counts = new SharedCounts(options.count, (id, place) => this.#recall(id, place));
  }

  /** A process has ended and receives nothing more. */
  forget(peer: ConnectedProcess): void {
    for (const [channel, hearers] of this.#hearers) {
      hearers.delete(peer);
      if (hearers.size === 0) this.#hearers.delete(channel);
    }
  }

  receive(peer: ConnectedProcess, message: ToPrimary): void {
    switch (message.type) {
      case "join":
        return this.#seat(peer, message.call);
      case "serving":
        return this.#noteSpeech(peer, message.greeting.speechUrl);
      case "told":
        return; // The primary prints it.
      case "takeRate":
        return void this.#takeRate(peer, message.call, message.ask);
      case "correctRate":
        return this.#counts.correct(message.correction);
      case "blockReturned":
        return this.#recalls.answer(message.call, message.rest);
      case "scrape":
        return void this.#scrape(peer, message.call, message.text);
      case "measured":
        this.#options.metrics.update(peer.process.id, message.text);
        if (message.call !== null) this.#measurements.answer(message.call, null);
        return;
      case "joinChannel":
        return void this.#hearersOf(message.channel).add(peer);
      case "leaveChannel":
        return void this.#hearersOf(message.channel).delete(peer);
      case "sendText":
        return this.#passOn(message.channel, message.text);
      default:
        assertNever(message);
    }
  }

  #seat({ number, process }: ConnectedProcess, call: number): void {
    const speechUrl = number === 1 ? null : this.#speechUrl;
    process.send({ type: "seat", call, seat: { number, count: this.#options.count, speechUrl } });
  }

  #noteSpeech(peer: ConnectedProcess, url: string | null): void {
    if (url === null || url === this.#speechUrl) return;
    this.#speechUrl = url;
    this.#tellOthers(peer, { type: "speechMoved", url });
  }

  #tellOthers(peer: ConnectedProcess, message: ToProcess): void {
    for (const other of this.#options.peers()) if (other !== peer) other.process.send(message);
  }

  #hearersOf(channel: string): Set<ConnectedProcess> {
    const hearers = this.#hearers.get(channel) ?? new Set();
    this.#hearers.set(channel, hearers);
    return hearers;
  }

  #passOn(channel: string, text: string): void {
    for (const { process } of this.#hearers.get(channel) ?? []) process.sendIfRoom({ type: "text", text });
  }

  async #takeRate({ process }: ConnectedProcess, call: number, ask: RateAsk): Promise<void> {
    process.send({ type: "rateGranted", call, grant: await this.#counts.take(process.id, ask) });
  }

  /** The block of a dead process counts as used until the minute is over. */
  async #recall(id: number, place: RatePlace): Promise<number> {
    const holder = this.#options.peers().find(({ process }) => process.id === id)?.process;
    if (holder === undefined) return 0;
    const rest = await this.#recalls.ask(
      (call) => holder.send({ type: "recallBlock", call, place }),
      RECALL_TIMEOUT_MS,
    );
    return rest ?? 0;
  }

  /** Measures the other processes. If one does not reply in time, its last known values are used. */
  async #scrape(peer: ConnectedProcess, call: number, text: string): Promise<void> {
    const { metrics, peers } = this.#options;
    metrics.update(peer.process.id, text);
    const others = peers().filter((other) => other !== peer && other.isServing);
    const measure = ({ process }: ConnectedProcess): Promise<null> =>
      this.#measurements.ask((callNumber) => process.send({ type: "measure", call: callNumber }), MEASURE_TIMEOUT_MS);
    await Promise.all(others.map(measure));
    peer.process.send({ type: "scraped", call, text: metrics.text() });
  }
}
