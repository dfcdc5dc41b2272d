import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type { CallToolResult, ListToolsResult, StandardSchemaV1 } from "@modelcontextprotocol/client";
import type { ServerTraits } from "./mcp-client.ts";
import type { Asking, McpConnection } from "./mcp-connection.ts";
import { McpFault } from "./mcp-failure.ts";
import type { ReadingRequest } from "./resources/resource-tool.ts";

/** Created once: each error costs a stack trace. */
const ENDED = new Error("the response has ended");

/** A connection of a pool. */
export interface TakenConnection {
  readonly connection: McpConnection;
  /** Gives it back to the pool. Called once. */
  readonly release: () => void;
}

/** The requests of one response to one server. Takes a connection on first use. */
export class ServerLink {
  readonly #takeConnection: () => Promise<TakenConnection>;
  readonly #ending = new AbortController();
  /** All connections taken; the last one is in use. */
  readonly #places: TakenConnection[] = [];
  #taking: Promise<TakenConnection> | null = null;

  constructor(takeConnection: () => Promise<TakenConnection>) {
    this.#takeConnection = takeConnection;
  }

  /** See `McpConnection.listPage`. */
  async listPage(cursor: string | undefined, signal: AbortSignal): Promise<ListToolsResult | null> {
    return await this.#ask(signal, (connection, asking) => connection.listPage(cursor, asking));
  }

  /** Whether the connection in use heard that the list has changed since it was read. */
  get hasNewList(): boolean {
    return this.#places.at(-1)?.connection.hasNewList === true;
  }

  /** See `McpConnection.traits`. */
  async traits(signal: AbortSignal): Promise<ServerTraits> {
    return await this.#ask(signal, (connection, asking) => connection.traits(asking));
  }

  /** See `McpConnection.request`. */
  async request<Schema extends StandardSchemaV1>(request: ReadingRequest, schema: Schema, signal: AbortSignal) {
    return await this.#ask(signal, (connection, asking) => connection.request(request, schema, asking));
  }

  /** See `McpConnection.callTool`. */
  async callTool(call: Parameters<McpConnection["callTool"]>[0], signal: AbortSignal): Promise<CallToolResult> {
    return await this.#ask(signal, (connection, asking) => connection.callTool(call, asking));
  }

  /** Ends the requests of this response and releases its connections. */
  close(): void {
    this.#ending.abort(ENDED);
    for (const place of this.#places.splice(0)) place.release();
  }

  /** Retries once over a new connection if the server has forgotten the session and therefore did nothing. */
  async #ask<T>(signal: AbortSignal, work: (connection: McpConnection, asking: Asking) => Promise<T>): Promise<T> {
    const asking = { signal, until: this.#ending.signal };
    const { connection } = await unlessAborted(this.#place(), signal);
    try {
      return await work(connection, asking);
    } catch (error) {
      if (!(error instanceof McpFault) || !error.isForgotten) throw error;
      return await work((await unlessAborted(this.#place(), signal)).connection, asking);
    }
  }

  async #place(): Promise<TakenConnection> {
    const last = this.#places.at(-1);
    if (last !== undefined && !last.connection.isOver) return last;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
    });
    return await this.#taking;
  }

  async #take(): Promise<TakenConnection> {
    this.#ending.signal.throwIfAborted();
    const place = await this.#takeConnection();
    if (this.#ending.signal.aborted) place.release();
    else this.#places.push(place);
    this.#ending.signal.throwIfAborted();
    return place;
  }
}
