import type { Broker } from "../../src/bus/ports.ts";
import type { Random } from "./random.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

/** How the network treats texts. Each is a share of 1. */
export interface NetworkFaults {
  readonly lost: number;
  readonly doubled: number;
  /** Arrive late, behind later ones. */
  readonly late: number;
}

const TEXT_BYTES_MAX = 64 * 1024;
const LATENCY_MS = 5;
const LATE_MS = 2_000;

/** Relays texts between nodes: loses, doubles, delays and reorders them. */
export class Network {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #faults: () => NetworkFaults;
  readonly #channels = new Map<string, Set<Actor>>();
  readonly #hearers = new Map<Actor, (text: string) => void>();

  constructor(scheduler: Scheduler, random: Random, faults: () => NetworkFaults) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#faults = faults;
  }

  brokerOf(actor: Actor): Broker {
    return {
      textBytesMax: TEXT_BYTES_MAX,
      isConnected: true,
      open: (hear) => void this.#hearers.set(actor, hear),
      join: (channel) => void this.#members(channel).add(actor),
      leave: (channel) => void this.#members(channel).delete(actor),
      send: (channel, text) => this.#send(channel, text),
      close: async () => this.remove(actor),
    };
  }

  remove(actor: Actor): void {
    this.#hearers.delete(actor);
    for (const members of this.#channels.values()) members.delete(actor);
  }

  #members(channel: string): Set<Actor> {
    const members = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, members);
    return members;
  }

  #send(channel: string, text: string): boolean {
    const { lost, doubled, late } = this.#faults();
    for (const actor of this.#members(channel)) {
      if (this.#random.happens(lost)) continue;
      for (let copies = this.#random.happens(doubled) ? 2 : 1; copies > 0; copies -= 1) {
        const ms = this.#random.between(0, this.#random.happens(late) ? LATE_MS : LATENCY_MS);
        this.#scheduler.plan(actor, ms, `bus ${channel.slice(0, 1)}`, () => this.#hearers.get(actor)?.(text));
      }
    }
    return true;
  }
}
