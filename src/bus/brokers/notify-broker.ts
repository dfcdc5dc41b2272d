import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Broker } from "../ports.ts";
import { BROKER_TIMEOUT_MS, type BrokerParts, PING_EVERY_MS, waitBeforeAttempt } from "./broker-parts.ts";

/** PostgreSQL takes less than 8,000. */
const TEXT_BYTES_MAX = 7_500;
/** The maximum texts waiting to be sent, and their maximum bytes. */
const WAITING_TEXTS_MAX = 10_000;
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
/** The maximum texts per statement. */
const BATCH_TEXTS_MAX = 200;
/** Prefixes channel names, because others may use the same database. */
const PREFIX = "antiphon_";

interface Text {
  readonly channel: string;
  readonly text: string;
  readonly bytes: number;
}

/**
 * Relays texts by LISTEN and NOTIFY of PostgreSQL, over its own session. Texts are sent in separate statements: within
 * the transactions that they announce, all commits of the server would wait for each other.
 */
export class NotifyBroker implements Broker {
  readonly textBytesMax = TEXT_BYTES_MAX;
  readonly #parts: BrokerParts;
  readonly #channels = new Set<string>();
  #hear: (text: string) => void = () => {};
  #client: pg.Client | null = null;
  #waiting: Text[] = [];
  #waitingBytes = 0;
  #isSending = false;
  /** Resolves when all statements so far are answered. */
  #lastAnswer: Promise<unknown> = Promise.resolve();
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(parts: BrokerParts) {
    this.#parts = parts;
  }

  get isConnected(): boolean {
    return this.#client !== null;
  }

  open(hear: (text: string) => void): void {
    this.#hear = hear;
    this.#running = this.#stayConnected();
  }

  join(channel: string): void {
    this.#channels.add(channel);
    if (this.#client !== null) void this.#ask(this.#client, `listen ${channelIdentifier(channel)}`);
  }

  leave(channel: string): void {
    this.#channels.delete(channel);
    if (this.#client !== null) void this.#ask(this.#client, `unlisten ${channelIdentifier(channel)}`);
  }

  send(channel: string, text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.#client === null) return this.#drop("away");
    const isFull = this.#waiting.length >= WAITING_TEXTS_MAX || this.#waitingBytes + bytes > WAITING_BYTES_MAX;
    if (isFull || bytes > TEXT_BYTES_MAX) return this.#drop("full");
    this.#waiting.push({ channel: PREFIX + channel, text, bytes });
    this.#waitingBytes += bytes;
    if (!this.#isSending) void this.#sendAll(this.#client);
    return true;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  /** Reconnects until the broker is closed. Never rejects. */
  async #stayConnected(): Promise<void> {
    const { observer, log } = this.#parts;
    const { signal } = this.#closing;
    let failures = 0;
    for (let isFirst = true; !signal.aborted; ) {
      const client = this.#newClient();
      const end = new Promise<unknown>((resolve) => {
        client.once("error", resolve);
        client.once("end", () => resolve(new Error("the connection has ended")));
      });
      try {
        await this.#begin(client);
        if (!isFirst) {
          observer.countReconnect();
          log.info({}, "receiving messages of other servers again, over PostgreSQL");
        }
        isFirst = false;
        failures = 0;
        const fault = await Promise.race([end, this.#watch(client)]);
        if (!signal.aborted) log.warn({ err: fault }, "lost the PostgreSQL session for messages of other servers");
      } catch (fault) {
        if (failures === 0) log.warn({ err: fault }, "cannot receive messages of other servers over PostgreSQL");
        isFirst = false;
      }
      this.#forgetClient();
      await Promise.race([client.end().catch(() => {}), sleep(BROKER_TIMEOUT_MS, null, { ref: false })]);
      await sleep(waitBeforeAttempt(failures), null, { signal }).catch(() => null); // Rejects when it is closed.
      failures += 1;
    }
  }

  #newClient(): pg.Client {
    const client = new pg.Client({
      connectionString: this.#parts.url,
      connectionTimeoutMillis: BROKER_TIMEOUT_MS,
      query_timeout: BROKER_TIMEOUT_MS,
      statement_timeout: BROKER_TIMEOUT_MS,
      keepAlive: true,
      application_name: "antiphon bus",
    });
    client.on("error", () => {}); // Even after it was given up.
    client.on("notification", ({ payload = "" }) => {
      if (this.#client === client) this.#hear(payload);
    });
    return client;
  }

  async #begin(client: pg.Client): Promise<void> {
    await client.connect();
    await client.query("set synchronous_commit = off"); // Losing a text is acceptable.
    for (const channel of this.#channels) await client.query(`listen ${channelIdentifier(channel)}`);
    this.#client = client;
  }

  /** Resolves to the fault when the session does not respond, or when the broker is closed and everything was sent. */
  async #watch(client: pg.Client): Promise<unknown> {
    const { signal } = this.#closing;
    while (!signal.aborted || this.#isSending) {
      await sleep(PING_EVERY_MS, null, { signal, ref: false }).catch(() => null);
      const fault = await this.#ask(client, "select 1");
      if (fault !== null) return fault;
    }
    return null;
  }

  /** A session runs one statement at a time. */
  #query(client: pg.Client, statement: pg.QueryConfig): Promise<unknown> {
    const answer = this.#lastAnswer.then(() => client.query(statement));
    this.#lastAnswer = answer.catch(() => {}); // The caller handles the rejection.
    return answer;
  }

  /** Resolves to the fault, or null. */
  async #ask(client: pg.Client, statement: string): Promise<unknown> {
    try {
      await this.#query(client, { text: statement });
      return null;
    } catch (fault) {
      return fault;
    }
  }

  /** Texts that arrive meanwhile are sent with the next statement. Never rejects. */
  async #sendAll(client: pg.Client): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0 && this.#client === client) {
      const batch = this.#waiting.splice(0, BATCH_TEXTS_MAX);
      for (const { bytes } of batch) this.#waitingBytes -= bytes;
      try {
        await this.#query(client, {
          name: "antiphon_notify",
          text: "select pg_notify(channel, text) from unnest($1::text[], $2::text[]) as texts (channel, text)",
          values: [batch.map(({ channel }) => channel), batch.map(({ text }) => text)],
        });
      } catch {
        for (const _ of batch) this.#drop("away"); // Receivers that miss them poll the database.
      }
    }
    this.#isSending = false;
  }

  #forgetClient(): void {
    this.#client = null;
    for (const _ of this.#waiting.splice(0)) this.#drop("away");
    this.#waitingBytes = 0;
  }

  #drop(reason: "full" | "away"): false {
    this.#parts.observer.countDrop(reason);
    return false;
  }
}

function channelIdentifier(channel: string): string {
  return pg.escapeIdentifier(PREFIX + channel);
}
