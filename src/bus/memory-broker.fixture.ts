import type { Broker } from "./ports.ts";

/** How the network treats texts. Each is a share of 1. */
export interface Faults {
  readonly lost: number;
  readonly doubled: number;
  /** Arrive late, after later ones. */
  readonly late: number;
  /** Arrive as messages of another version. */
  readonly changed: number;
  /** Are truncated. */
  readonly cut: number;
}

export const NO_FAULTS: Faults = { lost: 0, doubled: 0, late: 0, changed: 0, cut: 0 };
const LATE_MS_MAX = 300;

/** Brokers connected in memory, with faults if the test wants them. */
export class MemoryNetwork {
  faults: Faults = NO_FAULTS;
  /** While true, nothing arrives. */
  isDown = false;
  readonly textBytesMax: number;
  readonly #chance: () => number;
  readonly #hearers = new Map<string, Set<MemoryBroker>>();
  /** The sent texts, for tests. */
  readonly sent: { readonly channel: string; readonly text: string }[] = [];

  constructor(textBytesMax = 64 * 1024, chance: () => number = Math.random) {
    this.textBytesMax = textBytesMax;
    this.#chance = chance;
  }

  broker(): Broker {
    return new MemoryBroker(this);
  }

  hearersOf(channel: string): Set<MemoryBroker> {
    const hearers = this.#hearers.get(channel) ?? new Set();
    this.#hearers.set(channel, hearers);
    return hearers;
  }

  pass(channel: string, text: string): void {
    this.sent.push({ channel, text });
    if (this.isDown || this.#happens(this.faults.lost)) return;
    const changed = this.#happens(this.faults.changed) ? text.replace('{"v":1', '{"v":2') : text;
    const arriving = this.#happens(this.faults.cut) ? changed.slice(0, this.#chance() * changed.length) : changed;
    const times = this.#happens(this.faults.doubled) ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const arrive = (): void => {
        for (const broker of this.hearersOf(channel)) broker.hear(arriving);
      };
      if (this.#happens(this.faults.late)) setTimeout(arrive, this.#chance() * LATE_MS_MAX);
      else setImmediate(arrive);
    }
  }

  #happens(share: number): boolean {
    return this.#chance() < share;
  }
}

class MemoryBroker implements Broker {
  readonly isConnected = true;
  readonly #network: MemoryNetwork;
  hear: (text: string) => void = () => {};

  constructor(network: MemoryNetwork) {
    this.#network = network;
  }

  get textBytesMax(): number {
    return this.#network.textBytesMax;
  }

  open(hear: (text: string) => void): void {
    this.hear = hear;
  }

  join(channel: string): void {
    this.#network.hearersOf(channel).add(this);
  }

  leave(channel: string): void {
    this.#network.hearersOf(channel).delete(this);
  }

  send(channel: string, text: string): boolean {
    this.#network.pass(channel, text);
    return true;
  }

  async close(): Promise<void> {
    this.hear = () => {};
  }
}
