import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";
import type { Broker } from "../ports.ts";
import { BROKER_TIMEOUT_MS, type BrokerParts, PING_EVERY_MS, waitBeforeAttempt } from "./broker-parts.ts";

const TEXT_BYTES_MAX = 64 * 1024;
/** The maximum texts waiting for the broker's reply, and their maximum bytes. */
const WAITING_TEXTS_MAX = 10_000;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

export interface RedisBrokerParts extends BrokerParts {
  /** A name that distinguishes this database's channels from others on the same broker. */
  readonly namespace: () => Promise<string>;
}

/** Relays texts by Redis or Valkey. Stores nothing there. */
export class RedisBroker implements Broker {
  readonly textBytesMax = TEXT_BYTES_MAX;
  readonly #parts: RedisBrokerParts;
  readonly #channels = new Set<string>();
  #listener: (text: string) => void = () => {};
  #client: Client | null = null;
  #namespace: string | null = null;
  #waitingTexts = 0;
  #waitingBytes = 0;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RedisBrokerParts) {
    this.#parts = parts;
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  open(hear: (text: string) => void): void {
    this.#listener = hear;
    this.#running = this.#stayConnected();
  }

  join(channel: string): void {
    this.#channels.add(channel);
    void this.#client?.subscribe(this.#nameOf(channel), this.#listener).catch(() => {}); // A ping detects a failure.
  }

  leave(channel: string): void {
    this.#channels.delete(channel);
    void this.#client?.unsubscribe(this.#nameOf(channel)).catch(() => {});
  }

  send(channel: string, text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.#client === null) return this.#drop("away");
    const isFull = this.#waitingTexts >= WAITING_TEXTS_MAX || this.#waitingBytes + bytes > WAITING_BYTES_MAX;
    if (isFull || bytes > TEXT_BYTES_MAX) return this.#drop("full");
    this.#waitingTexts += 1;
    this.#waitingBytes += bytes;
    void this.#publish(this.#client, this.#nameOf(channel), text).then(() => {
      this.#waitingTexts -= 1;
      this.#waitingBytes -= bytes;
    });
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Receivers that miss a text poll the database. Never rejects. */
  async #publish(client: Client, channel: string, text: string): Promise<void> {
    await client.publish(channel, text).catch(() => this.#drop("away"));
  }

  /** Reconnects until the broker is closed. Never rejects. */
  async #stayConnected(): Promise<void> {
    const { observer, log } = this.#parts;
    const { signal } = this.#closing;
    let failures = 0;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const client = newClient(this.#parts.url);
      try {
        await this.#begin(client);
        if (!isFirst) {
          observer.countReconnect();
          log.info({}, "receiving messages of other servers again, over the broker");
        }
        failures = 0;
        await this.#watch(client);
      } catch (fault) {
        if (failures === 0) log.warn({ err: fault }, "cannot receive messages of other servers over the broker");
      }
      this.#client = null;
      client.destroy(); // Pending commands reject.
      await sleep(waitBeforeAttempt(failures), null, { signal }).catch(() => null); // Rejects when it is closed.
      failures += 1;
    }
  }

  async #begin(client: Client): Promise<void> {
    this.#namespace ??= await this.#parts.namespace();
    await inTime(client.connect());
    for (const channel of this.#channels) await inTime(client.subscribe(this.#nameOf(channel), this.#listener));
    this.#client = client;
  }

  /** Rejects when the broker does not respond. Resolves when this is closed and everything sent is answered. */
  async #watch(client: Client): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(PING_EVERY_MS, null, { signal, ref: false }).catch(() => null);
      await inTime(client.ping());
    }
  }

  #nameOf(channel: string): string {
    return `antiphon:${this.#namespace}:${channel}`;
  }

  #drop(reason: "full" | "away"): false {
    this.#parts.observer.countDrop(reason);
    return false;
  }
}

type Client = ReturnType<typeof newClient>;

/** By default, this library would wait forever for a broker that is down. */
function newClient(url: string) {
  const client = createClient({
    url,
    RESP: 3, // One connection both subscribes and publishes.
    disableOfflineQueue: true,
    commandsQueueMaxLength: WAITING_TEXTS_MAX + 1_000,
    commandOptions: { timeout: BROKER_TIMEOUT_MS },
    socket: { connectTimeout: BROKER_TIMEOUT_MS, reconnectStrategy: false, keepAlive: true },
  });
  client.on("error", () => {}); // Each use of the client handles its error.
  return client;
}

/** Rejects if it takes too long. */
async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("the broker does not respond")), BROKER_TIMEOUT_MS);
  return await Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
