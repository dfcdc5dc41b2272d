import { createHash } from "node:crypto";
import { type Owner, ownerText } from "@antiphon/domain/owner.ts";
import type { McpConnectionOptions } from "./connection-parts.ts";
import { McpConnection } from "./mcp-connection.ts";
import type { McpServer } from "./mcp-server.ts";

/** How long an unused connection is kept. */
const IDLE_MS = 60_000;
/** The maximum of unused connections. Beyond it, the longest unused one is closed. */
const IDLE_MAX = 256;

/** A connection, and the responses that use it. */
export interface PooledConnection {
  readonly key: string;
  readonly connection: McpConnection;
  users: number;
  /** Closes it after some time without use. */
  idle: NodeJS.Timeout | null;
}

/**
 * Connections that outlive the response that opened them. Another response gets one only for the same owner, URL and
 * headers, and a connection with a session only if nobody else uses it.
 */
export class ConnectionPool {
  readonly #options: Omit<McpConnectionOptions, "caller">;
  readonly #places = new Map<string, Set<PooledConnection>>();
  /** The longest unused comes first. */
  readonly #idle = new Set<PooledConnection>();
  #isClosed = false;

  constructor(options: Omit<McpConnectionOptions, "caller">) {
    this.#options = options;
  }

  /**
   * Returns a connection to this server, which must be released once. It may not be open yet. Waits while the first
   * connection to a server is opened, and rejects if that fails.
   */
  async take(server: McpServer, owner: Owner): Promise<PooledConnection> {
    const key = connectionKey(server, owner);
    const first = this.#firstToOpen(key); // Concurrent requests must not both be first.
    if (first !== null) {
      first.users += 1;
      await first.connection.open().finally(() => this.giveBack(first));
    }
    return this.#free(key) ?? this.#add(key, server, owner);
  }

  /** Whether a kept connection to this server heard that its list of tools has changed since it was read. */
  hasNewList(server: McpServer, owner: Owner): boolean {
    const places = this.#places.get(connectionKey(server, owner)) ?? [];
    return [...places].some(({ connection }) => connection.isOpen && connection.hasNewList);
  }

  giveBack(place: PooledConnection): void {
    place.users -= 1;
    if (place.users > 0) return;
    if (this.#isClosed || !place.connection.isLasting) return void this.#end(place);
    place.idle = setTimeout(() => void this.#end(place), IDLE_MS).unref();
    this.#idle.add(place);
    const [oldest] = this.#idle;
    if (this.#idle.size > IDLE_MAX && oldest !== undefined) void this.#end(oldest);
  }

  /** Closes all unused connections; others are closed on release. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#idle].map((place) => this.#end(place)));
  }

  /** The connection to wait for: whether the server has sessions is known once the first one is open. */
  #firstToOpen(key: string): PooledConnection | null {
    const others = [...(this.#places.get(key) ?? [])].filter(({ connection }) => !connection.isOver);
    return others.some(({ connection }) => connection.isOpen) ? null : (others[0] ?? null);
  }

  #free(key: string): PooledConnection | null {
    for (const place of this.#places.get(key) ?? []) {
      const { connection, users } = place;
      if (connection.isOver) continue;
      if (!connection.isShareable && !(users === 0 && connection.isLasting)) continue;
      place.users += 1;
      this.#stay(place);
      return place;
    }
    return null;
  }

  #add(key: string, server: McpServer, owner: Owner): PooledConnection {
    const caller = ownerText(owner);
    const place = { key, connection: new McpConnection(server, { ...this.#options, caller }), users: 1, idle: null };
    const places = this.#places.get(key) ?? new Set();
    this.#places.set(key, places.add(place));
    return place;
  }

  #stay(place: PooledConnection): void {
    if (place.idle !== null) clearTimeout(place.idle);
    place.idle = null;
    this.#idle.delete(place);
  }

  async #end(place: PooledConnection): Promise<void> {
    this.#stay(place);
    const places = this.#places.get(place.key);
    places?.delete(place);
    if (places?.size === 0) this.#places.delete(place.key);
    await place.connection.close();
  }
}

/** Contains everything that two responses must have in common, without its secrets. */
export function connectionKey(server: McpServer, { organization, project }: Owner): string {
  const { reach, isOperators, asksUser, label, tokenPlace } = server;
  const target =
    reach.type === "url"
      ? [reach.url, reach.headers, tokenPlace.type === "request" ? null : tokenPlace.label]
      : [label, reach.command, reach.args, reach.folder, reach.environment];
  return createHash("sha256")
    .update(JSON.stringify([organization, project, isOperators, asksUser, reach.type, target]))
    .digest("base64");
}
