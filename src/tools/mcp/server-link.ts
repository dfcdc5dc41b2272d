import { assert } from "@antiphon/base/assert.ts";
import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type {
  CallToolResult,
  InputRequiredResult,
  ListToolsResult,
  StandardSchemaV1,
} from "@modelcontextprotocol/client";
import type { ServerTraits } from "./mcp-client.ts";
import type { Asking, McpConnection } from "./mcp-connection.ts";
import { McpFault } from "./mcp-failure.ts";
import type { ProgramUser } from "./programs/program-pool.ts";
import type { OpenStep, PausableCall } from "./questions/pausable-call.ts";
import type { ReadingRequest } from "./resources/resource-tool.ts";

/** Created once: each error costs a stack trace. */
const ENDED = new Error("the response has ended");

/** A connection of a pool. */
export interface TakenConnection {
  readonly connection: McpConnection;
  /** Gives it back to the pool. Called once. */
  readonly release: () => void;
  /** A later response goes on with it. */
  readonly join: (user: ProgramUser) => void;
}

/** A call that may ask has begun. `call`: it waits in this process; the newer protocol makes it again instead. */
export type BegunCall =
  | { readonly type: "open"; readonly call: PausableCall; readonly step: OpenStep; readonly connection: McpConnection }
  | { readonly type: "over"; readonly result: CallToolResult | InputRequiredResult };

/** The requests of one response to one server. Takes a connection on first use. */
export class ServerLink {
  readonly #takeConnection: () => Promise<TakenConnection>;
  readonly #ending = new AbortController();
  /** All connections taken; the last one is in use. */
  readonly #places: SharedConnection[] = [];
  #taking: Promise<SharedConnection> | null = null;

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

  /** Begins a call during which the server may ask the user, or makes it again with `answers`. */
  async beginCall(
    call: Parameters<McpConnection["callTool"]>[0],
    answers: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<BegunCall> {
    return await this.#ask(signal, async (connection, asking): Promise<BegunCall> => {
      if (await connection.isModern(signal))
        return { type: "over", result: await connection.callAsking(call, answers, asking) };
      const openCall = connection.openCall(call);
      return { type: "open", call: openCall, step: await this.stepOf(openCall, signal), connection };
    });
  }

  /** The next step of a call, which is stopped if the response ends meanwhile. */
  async stepOf(call: PausableCall, signal: AbortSignal): Promise<OpenStep> {
    return await call.next(AbortSignal.any([signal, this.#ending.signal]));
  }

  /** Keeps a connection of this response for a call that outlasts it. */
  keep(connection: McpConnection): TakenConnection {
    const place = this.#places.find((one) => one.connection === connection);
    assert(place !== undefined, "a call belongs to a connection of its response");
    return place.share();
  }

  /** Goes on with the connection of a kept call. */
  adopt(place: TakenConnection, user: ProgramUser): void {
    place.join(user);
    this.#places.push(new SharedConnection(place));
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

  async #place(): Promise<SharedConnection> {
    const last = this.#places.at(-1);
    if (last !== undefined && !last.connection.isOver) return last;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
    });
    return await this.#taking;
  }

  async #take(): Promise<SharedConnection> {
    this.#ending.signal.throwIfAborted();
    const place = new SharedConnection(await this.#takeConnection());
    if (this.#ending.signal.aborted) place.release();
    else this.#places.push(place);
    this.#ending.signal.throwIfAborted();
    return place;
  }
}

/** A connection that is given back once the last of its users has released it. */
class SharedConnection implements TakenConnection {
  readonly #place: TakenConnection;
  #users = 1;

  constructor(place: TakenConnection) {
    this.#place = place;
  }

  get connection(): McpConnection {
    return this.#place.connection;
  }

  readonly join = (user: ProgramUser): void => this.#place.join(user);

  readonly release = (): void => {
    this.#users -= 1;
    if (this.#users === 0) this.#place.release();
  };

  share(): TakenConnection {
    this.#users += 1;
    return this;
  }
}
