import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import {
  type CallToolResult,
  type Client,
  type InputRequiredResult,
  type ListToolsResult,
  SdkError,
  SdkErrorCode,
  type StandardSchemaV1,
  type Tool,
} from "@modelcontextprotocol/client";
import { type BegunReply, CallIds } from "./call-ids.ts";
import { directCallsTo, type McpConnectionOptions, serverTransport } from "./connection-parts.ts";
import { type CallParams, type DirectCalls, sentParams } from "./direct-calls.ts";
import { createMcpClient, listenForLists, type ServerTraits } from "./mcp-client.ts";
import { type Delivery, deliveryAt, McpFault, refusedStatus, timeoutSignal } from "./mcp-failure.ts";
import type { McpServer } from "./mcp-server.ts";
import { type EndableTransport, type HttpTransport, type Use, withinUse } from "./open-transport.ts";
import { causeOf } from "./programs/open-program.ts";
import { CallFloor, PausableCall } from "./questions/pausable-call.ts";
import type { ReadingRequest } from "./resources/resource-tool.ts";
import { LIST_RESULT, lightMessage } from "./results/light-results.ts";
import { CALL_RESULT } from "./results/read-result.ts";
import { SharedWork } from "./shared-work.ts";

/** The time limit of notifying the server about the end of a session or call. */
const FAREWELL_MS = 1000;
/** Progress reports extend a call up to this many times its limit. */
const PROGRESS_FACTOR = 5;
/** Statuses of servers that lack the newer transport. */
const NOT_STREAMABLE: ReadonlySet<number> = new Set([400, 404, 405]);
/** The client library's limit of a call that may wait for the user. Such a call has a clock of its own. */
const OPEN_CALL_MS = 3_600_000;
/** The time limit of a question to a program whose last call was stopped. */
const ANSWER_MS = 2000;
/** The protocol's status for a forgotten session. Some servers use 400. */
const NOT_FOUND = 404;
const BAD_REQUEST = 400;

/** `signal` stops one request; `until` aborts when the response that uses the connection ends. */
export interface Asking {
  readonly signal: AbortSignal;
  readonly until: AbortSignal;
  /** The key of a call of a tool. */
  readonly key?: string | null;
}

interface OpenClient {
  readonly client: Client;
  readonly transport: EndableTransport;
  readonly kind: HttpTransport | "program";
  /** Null if calls need information that only the client library has. */
  readonly direct: DirectCalls | null;
}

/** A connection to one server, opened on first use. */
export class McpConnection {
  readonly #server: McpServer;
  readonly #options: McpConnectionOptions;
  readonly #lifetime = new AbortController();
  readonly #callIds = new CallIds();
  readonly #floor = new CallFloor();
  #opening: Promise<OpenClient> | null = null;
  #openClient: OpenClient | null = null;
  /** The pending first page. */
  #listing: SharedWork<ListToolsResult | null> | null = null;
  #isOver = false;
  #hasNewList = false;
  /** Whether a request was stopped that may still keep the server busy. */
  #isDoubtful = false;

  constructor(server: McpServer, options: McpConnectionOptions) {
    this.#server = server;
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#openClient !== null && !this.#isOver;
  }

  /** Whether it could not be opened, has failed, or was closed. New requests need another one. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether it may serve later responses. Other connections own a stream or a program. */
  get isLasting(): boolean {
    return this.isOpen && this.#openClient?.kind === "streamable";
  }

  /** Whether it may serve several responses at once: the server has no session state. */
  get isShareable(): boolean {
    return this.isLasting && this.#openClient?.transport.sessionId === undefined;
  }

  /** Whether the server said that its list of tools has changed since it was last read. */
  get hasNewList(): boolean {
    return this.#hasNewList;
  }

  /** Opens it, once. Rejects with `McpFault`. */
  async open(): Promise<void> {
    await this.#client();
  }

  /** Whether a connection that was used before is still of use. Asks the server if its last request was stopped. */
  async isAnswering(): Promise<boolean> {
    if (!this.isOpen) return false;
    if (!this.#isDoubtful) return true;
    try {
      // The newer protocol has no ping.
      await this.#openClient?.client.request({ method: "tools/list", params: {} }, LIST_RESULT, { timeout: ANSWER_MS });
    } catch (error) {
      const isSilent = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
      if (isSilent || !this.isOpen) return false; // An error is an answer, too.
    }
    this.#isDoubtful = false;
    return true;
  }

  /**
   * One page of the server's tools; null if it has no tools. Concurrent requests for the first page share one request
   * on a shared connection. Rejects with `McpFault` or the reason of the signal.
   */
  async listPage(cursor: string | undefined, asking: Asking): Promise<ListToolsResult | null> {
    const { signal } = asking;
    await unlessAborted(this.#client(), signal);
    if (cursor !== undefined || !this.isShareable) return await this.#page(cursor, asking);
    if (this.#listing?.isOver !== false)
      this.#listing = new SharedWork((sharedSignal) =>
        this.#page(undefined, { signal: sharedSignal, until: this.#lifetime.signal }),
      );
    const listing = this.#listing;
    try {
      return await listing.join(signal);
    } finally {
      if (listing.isOver && this.#listing === listing) this.#listing = null;
    }
  }

  /** What the server said about itself at the beginning. Rejects as `listPage` does. */
  async traits({ signal }: Asking): Promise<ServerTraits> {
    const { client } = await unlessAborted(this.#client(), signal);
    const hasResources = client.getServerCapabilities()?.resources !== undefined;
    return { instructions: client.getInstructions() ?? null, hasResources };
  }

  /** A request that changes nothing. Rejects as `callTool` does. */
  async request<Schema extends StandardSchemaV1>(
    request: ReadingRequest,
    schema: Schema,
    asking: Asking,
  ): Promise<StandardSchemaV1.InferOutput<Schema>> {
    const options = { signal: asking.signal, timeout: this.#options.callTimeoutMs };
    return await this.#ask(asking, NOT_FOUND, (client) => client.request(request, schema, options));
  }

  async #page(cursor: string | undefined, asking: Asking): Promise<ListToolsResult | null> {
    const { signal } = asking;
    const params = cursor === undefined ? {} : { cursor };
    return await this.#ask(asking, BAD_REQUEST, async (client) => {
      if (cursor === undefined) this.#hasNewList = false;
      if (client.getServerCapabilities()?.tools === undefined) return null;
      return await unlessAborted(client.request({ method: "tools/list", params }, LIST_RESULT, { signal }), signal);
    });
  }

  /**
   * Calls a tool. `schema`: its input schema, because newer servers require some arguments as headers. Rejects with
   * `McpFault` or the reason of the signal.
   */
  async callTool(call: CallParams & { readonly schema: object }, asking: Asking): Promise<CallToolResult> {
    const startedAt = performance.now();
    const { direct } = this.#openClient ?? (await unlessAborted(this.#client(), asking.signal));
    const outcome = direct === null ? null : await this.#callDirectly(direct, call, asking);
    if (outcome?.type === "read") return outcome.result;
    const beginning = outcome?.beginning ?? null;
    const { callTimeoutMs: timeout } = this.#options;
    const passedMs = beginning === null ? 0 : performance.now() - startedAt;
    const toolDefinition: Tool = { name: call.name, inputSchema: { ...call.schema, type: "object" } };
    const options = {
      signal: asking.signal,
      timeout: Math.max(1, timeout - passedMs),
      onprogress: () => {}, // Makes the server report progress.
      resetTimeoutOnProgress: true,
      maxTotalTimeout: PROGRESS_FACTOR * timeout - passedMs,
    };
    const params = sentParams(call);
    const work = (client: Client): Promise<CallToolResult> =>
      client.getProtocolEra() === "modern"
        ? client.callTool(params, { ...options, toolDefinition })
        : client.request({ method: "tools/call", params }, CALL_RESULT, options);
    return await this.#ask({ ...asking, key: call.key }, NOT_FOUND, work, beginning);
  }

  /** A call during which a server of an older protocol may ask the user. */
  openCall(call: CallParams): PausableCall {
    const params = sentParams(call);
    const { key } = call;
    const timing = { timeout: OPEN_CALL_MS, resetTimeoutOnProgress: true };
    const begin = async (signal: AbortSignal, onprogress: () => void): Promise<CallToolResult> =>
      await this.#ask({ signal, until: signal, key }, NOT_FOUND, (client) =>
        client.request({ method: "tools/call", params }, CALL_RESULT, { ...timing, signal, onprogress }),
      );
    return new PausableCall({ begin, timeoutMs: this.#options.callTimeoutMs }, this.#floor);
  }

  /**
   * Calls a tool of a server of the newer protocol that may ask the user. `answers`: those to the questions that it
   * asked before, with its state. Rejects as `callTool` does.
   */
  async callAsking(
    { schema, ...call }: CallParams & { readonly schema: object },
    answers: Readonly<Record<string, unknown>>,
    asking: Asking,
  ): Promise<CallToolResult | InputRequiredResult> {
    const toolDefinition: Tool = { name: call.name, inputSchema: { ...schema, type: "object" } };
    const options = { signal: asking.signal, timeout: this.#options.callTimeoutMs, toolDefinition };
    return await this.#ask({ ...asking, key: call.key }, NOT_FOUND, (client) =>
      client.callTool({ ...sentParams(call), ...answers }, { ...options, allowInputRequired: true }),
    );
  }

  /** Whether its server speaks the newer protocol. Rejects as `open` does. */
  async isModern(signal: AbortSignal): Promise<boolean> {
    const { client } = await unlessAborted(this.#client(), signal);
    return client.getProtocolEra() === "modern";
  }

  async #callDirectly(direct: DirectCalls, { name, arguments: args, key }: CallParams, { signal, until }: Asking) {
    signal.throwIfAborted();
    let delivery: Delivery = "unsent";
    const onSent = (): void => {
      delivery = "sent";
    };
    const limits = { signals: [signal, until], timeoutMs: this.#options.callTimeoutMs, onSent };
    try {
      return await direct.call({ name, arguments: args, key }, limits);
    } catch (error) {
      signal.throwIfAborted();
      throw new McpFault(error, { status: null, isForgotten: false, delivery });
    }
  }

  /** Ends the session and all requests. Never rejects. */
  async close(): Promise<void> {
    const wasOver = this.#isOver;
    this.#isOver = true;
    const end = wasOver ? undefined : this.#openClient?.transport.terminateSession?.();
    if (end !== undefined) await unlessAborted(end, AbortSignal.timeout(FAREWELL_MS)).catch(() => {});
    this.#lifetime.abort();
    const openClient = await this.#opening?.catch(() => null);
    await openClient?.client.close().catch(() => {});
  }

  /** `forgotten`: the status besides 404 that means an unknown session. */
  async #ask<T>(
    { signal, until, key = null }: Asking,
    forgotten: number,
    work: (client: Client) => Promise<T>,
    beginning: BegunReply | null = null,
  ): Promise<T> {
    signal.throwIfAborted();
    const { client, transport } = this.#openClient ?? (await unlessAborted(this.#client(), signal));
    const hadSession = transport.sessionId !== undefined;
    const failure = new AbortController();
    const delivery = beginning === null ? "unsent" : deliveryAt(beginning.reply.status);
    const use: Use = { signals: [until, failure.signal], refusedWith: null, delivery, beginning, key };
    try {
      return await withinUse(use, () => work(client));
    } catch (error) {
      beginning?.stop();
      this.#isDoubtful = true;
      failure.abort(error); // The older protocol leaves the request open.
      signal.throwIfAborted();
      const status = refusedStatus(error);
      const isForgotten = hadSession && (status === NOT_FOUND || status === forgotten);
      if (isForgotten) this.#isOver = true;
      const cause = causeOf(error, transport);
      throw new McpFault(cause, { status: use.refusedWith, isForgotten, delivery: use.delivery });
    } finally {
      // The library may still notify the server that the call is abandoned.
      if (beginning !== null) setImmediate(() => this.#callIds.delete(beginning.id));
    }
  }

  #client(): Promise<OpenClient> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#isOver = true;
      throw error;
    });
    return this.#opening;
  }

  async #connect(): Promise<OpenClient> {
    const refusal: { status: number | null } = { status: null };
    const limit = AbortSignal.any([this.#lifetime.signal, timeoutSignal(this.#options.listTimeoutMs)]);
    try {
      const openClient = await this.#connectOver("streamable", limit, refusal).catch((error: unknown) => {
        if (limit.aborted || !NOT_STREAMABLE.has(refusedStatus(error) ?? 0)) throw error;
        return this.#connectOver("sse", limit, refusal);
      });
      // oxlint-disable-next-line unicorn/prefer-add-event-listener -- The client is no event target.
      openClient.client.onclose = () => {
        this.#isOver = true;
      };
      this.#openClient = openClient;
      return openClient;
    } catch (error) {
      throw new McpFault(error, { ...refusal, isForgotten: false, delivery: "unsent" });
    }
  }

  async #connectOver(
    kind: HttpTransport,
    signal: AbortSignal,
    refusal: { status: number | null },
  ): Promise<OpenClient> {
    const { version, listTimeoutMs: timeout, log } = this.#options;
    const onNewList = (): void => {
      this.#hasNewList = true;
      log.debug({ server: this.#server.label }, "the list of an MCP server has changed");
    };
    const onQuestion = this.#server.asksUser ? this.#floor.ask.bind(this.#floor) : null;
    const client = createMcpClient(kind, version, { onNewList, onQuestion });
    const attempt = new AbortController();
    const transport = serverTransport(kind, this.#server, {
      ...this.#options,
      signal: AbortSignal.any([this.#lifetime.signal, attempt.signal]),
      callIds: this.#callIds,
      onRefused: (status) => {
        refusal.status = status;
      },
    });
    try {
      await unlessAborted(client.connect(transport, { signal, timeout }), signal);
    } catch (error) {
      attempt.abort();
      await client.close().catch(() => {});
      await transport.close().catch(() => {});
      throw causeOf(error, transport);
    }
    if (this.#server.reach.type === "program") listenForLists(client);
    const { onmessage } = transport;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- The transport is no event target.
    transport.onmessage = (message) => onmessage?.(lightMessage(this.#callIds.readMessage(message)));
    return {
      client,
      transport,
      kind: this.#server.reach.type === "program" ? "program" : kind,
      direct: directCallsTo(this.#server, { client, transport, lifetime: this.#lifetime.signal }, this.#options),
    };
  }
}
