import { type CallToolResult, Client, type ListToolsResult, type Tool } from "@modelcontextprotocol/client";
import { McpTimeout, refusedStatus } from "./mcp-failure.ts";
import type { McpOptions, McpServer } from "./mcp-server.ts";
import { type EndableTransport, type HttpTransport, openTransport } from "./open-transport.ts";
import { ProgramTransport } from "./program-transport.ts";

/** How long an end of a session, or of a call, may take to be told to the server. */
const FAREWELL_MS = 1000;
/** Progress that a server reports lengthens a call up to this many times its limit. */
const PROGRESS_FACTOR = 5;
/** Statuses by which a server shows that it does not speak the newer transport. */
const NOT_STREAMABLE: ReadonlySet<number> = new Set([400, 404, 405]);

export type McpConnectionOptions = Pick<
  McpOptions,
  "egress" | "operatorEgress" | "listTimeoutMs" | "callTimeoutMs" | "version"
> & {
  readonly caller: string;
};

/** The connection of one response to one server. It is made when it is first needed. */
export class McpConnection {
  readonly #server: McpServer;
  readonly #options: McpConnectionOptions;
  readonly #lifetime = new AbortController();
  #connected: Promise<Client> | null = null;
  #endSession: (() => Promise<void>) | null = null;
  #lastStatus: number | null = null;

  constructor(server: McpServer, options: McpConnectionOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** The status of the last reply that was an error; null if there was none. */
  get lastStatus(): number | null {
    return this.#lastStatus;
  }

  /** One page of the server's tools; null if it has no tools. */
  async listPage(cursor: string | undefined, signal: AbortSignal): Promise<ListToolsResult | null> {
    const client = await this.#client(signal);
    if (client.getServerCapabilities()?.tools === undefined) return null;
    const params = cursor === undefined ? {} : { cursor };
    return await unlessAborted(client.request({ method: "tools/list", params }, { signal }), signal);
  }

  /** Calls a tool. `schema` is its input schema, from which newer servers want some arguments as headers. */
  async callTool(
    call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>>; readonly schema: object },
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const { callTimeoutMs: timeout } = this.#options;
    const client = await this.#client(signal);
    const toolDefinition: Tool = { name: call.name, inputSchema: { ...call.schema, type: "object" } };
    return await client.callTool(
      { name: call.name, arguments: call.arguments },
      {
        signal,
        timeout,
        onprogress: () => {}, // So that the server reports progress.
        resetTimeoutOnProgress: true,
        maxTotalTimeout: PROGRESS_FACTOR * timeout,
        toolDefinition,
      },
    );
  }

  /** Ends the session and all requests. Never rejects. */
  async close(): Promise<void> {
    const end = this.#endSession;
    this.#endSession = null;
    if (end !== null) await unlessAborted(end(), AbortSignal.timeout(FAREWELL_MS)).catch(() => {});
    this.#lifetime.abort();
    const client = await this.#connected?.catch(() => null);
    await client?.close().catch(() => {});
  }

  async #client(signal: AbortSignal): Promise<Client> {
    signal.throwIfAborted();
    const limit = AbortSignal.any([this.#lifetime.signal, timeoutSignal(this.#options.listTimeoutMs)]);
    this.#connected ??= this.#connect(limit).catch((error: unknown) => {
      this.#connected = null; // The next call tries again.
      throw error;
    });
    return await unlessAborted(this.#connected, signal);
  }

  async #connect(signal: AbortSignal): Promise<Client> {
    try {
      return await this.#connectOver("streamable", signal);
    } catch (error) {
      if (signal.aborted || !NOT_STREAMABLE.has(refusedStatus(error) ?? 0)) throw error;
      return await this.#connectOver("sse", signal);
    }
  }

  async #connectOver(kind: HttpTransport, signal: AbortSignal): Promise<Client> {
    const { version, listTimeoutMs: timeout } = this.#options;
    const client = new Client(
      { name: "antiphon", version },
      {
        // Servers before 2026 know one way to begin; those that speak SSE are older.
        versionNegotiation: { mode: kind === "sse" ? "legacy" : "auto" },
        inputRequired: { autoFulfill: false },
      },
    );
    const attempt = new AbortController();
    const transport = this.#transport(kind, AbortSignal.any([this.#lifetime.signal, attempt.signal]));
    try {
      await unlessAborted(client.connect(transport, { signal, timeout }), signal);
    } catch (error) {
      attempt.abort();
      await client.close().catch(() => {});
      await transport.close().catch(() => {});
      throw error;
    }
    this.#endSession = async () => await transport.terminateSession?.();
    return client;
  }

  #transport(kind: HttpTransport, signal: AbortSignal): EndableTransport {
    const { egress, operatorEgress, caller } = this.#options;
    const { reach, isOperators } = this.#server;
    if (reach.type === "program") return new ProgramTransport(reach, signal);
    return openTransport(kind, reach, {
      egress: isOperators ? operatorEgress : egress,
      caller,
      signal,
      onRefused: (status) => {
        this.#lastStatus = status;
      },
    });
  }
}

/** Aborts with `McpTimeout`. */
export function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new McpTimeout(`no answer in ${ms} ms`)), ms);
  timer.unref();
  return controller.signal;
}

/** Stops waiting when the signal aborts, with its reason. The work itself may go on; its error is then nobody's. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", leave);
    work.catch(() => {});
    promise.catch(() => {});
  }
}
