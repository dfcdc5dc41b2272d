import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import type { OpenedReply } from "@antiphon/egress/open-reply.ts";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { BegunReply } from "./call-ids.ts";
import { McpTimeout } from "./mcp-failure.ts";
import type { McpAddress } from "./mcp-server.ts";
import { type EndableTransport, KEY_HEADER, REPLY_BYTES_MAX } from "./open-transport.ts";
import { lightResult } from "./results/light-results.ts";
import { CALL_RESULT } from "./results/read-result.ts";

const OK = 200;
/** Created once: each error costs a stack trace. */
const OVER = new Error("nobody waits for this call any more");

/** The parameters of a tool call. */
export interface CallParams {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The same in all attempts at the call. Null for a call that changes nothing. */
  readonly key: string | null;
}

/** The member of `_meta` with the key of a call. */
const KEY_MEMBER = "antiphon/idempotency-key";

/** What the server gets as the parameters of a call. */
export function sentParams({ name, arguments: args, key }: CallParams) {
  return { name, arguments: args, ...(key === null ? {} : { _meta: { [KEY_MEMBER]: key } }) };
}

export type DirectOutcome =
  | { readonly type: "read"; readonly result: CallToolResult }
  | { readonly type: "begun"; readonly beginning: BegunReply };

export interface DirectParts {
  readonly address: McpAddress;
  readonly egress: Pick<Egress, "callGuarded">;
  readonly caller: string;
  readonly transport: EndableTransport & { readonly protocolVersion: string | undefined };
  /** Aborting ends all calls. */
  readonly lifetime: AbortSignal;
  /** Notifies the server that nobody waits for this call any more. */
  readonly tellCancelled: (id: string) => void;
}

export interface DirectLimits {
  /** Each of them stops the call. */
  readonly signals: readonly AbortSignal[];
  readonly timeoutMs: number;
  /** Called when the call starts to be sent. */
  readonly onSent: () => void;
}

/**
 * Calls tools over an open streamable HTTP connection with one request, bypassing the client library, which takes
 * several times as long per call. Reads JSON results here. The library handles all other replies: streams, statuses,
 * protocol errors, and invalid results.
 */
export class DirectCalls {
  readonly #parts: DirectParts;
  readonly #headers: Readonly<Record<string, string>>;
  #calls = 0;

  constructor(parts: DirectParts) {
    this.#parts = parts;
    this.#headers = requestHeaders(parts);
  }

  /** Rejects with `EgressError`, `McpTimeout`, or the reason of the signal that stopped it. */
  async call(params: CallParams, limits: DirectLimits): Promise<DirectOutcome> {
    const { egress, address, caller, lifetime } = this.#parts;
    for (const signal of [...limits.signals, lifetime]) signal.throwIfAborted();
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    const wait = this.#begin(id, limits);
    const sent = sentParams(params);
    const sentMeta = { ...sent._meta, progressToken: id };
    const message = { method: "tools/call", params: { ...sent, _meta: sentMeta }, jsonrpc: "2.0", id };
    const headers = params.key === null ? this.#headers : { ...this.#headers, [KEY_HEADER]: params.key };
    try {
      const reply = await egress.callGuarded(address.url, {
        kind: "mcp",
        method: "POST",
        headers,
        body: JSON.stringify(message),
        bytesMax: REPLY_BYTES_MAX,
        signal: wait.signal,
        onSent: limits.onSent,
        caller,
      });
      const result = resultOf(reply, id);
      if (result === null) return { type: "begun", beginning: { id, reply, stop: wait.handOver() } };
      wait.forget();
      return { type: "read", result };
    } catch (error) {
      wait.forget();
      throw error;
    }
  }

  #begin(id: string, { signals, timeoutMs }: DirectLimits) {
    const controller = new AbortController();
    const all = [...signals, this.#parts.lifetime];
    let isHandedOver = false;
    const forget = (): void => {
      clearTimeout(timer);
      for (const signal of all) signal.removeEventListener("abort", leave);
    };
    const stop = (reason: unknown): void => {
      forget();
      controller.abort(reason);
      if (!isHandedOver) this.#parts.tellCancelled(id);
    };
    const leave = (): void => stop(all.find(({ aborted }) => aborted)?.reason);
    const timer = setTimeout(() => stop(new McpTimeout(`no answer in ${timeoutMs} ms`)), timeoutMs);
    for (const signal of all) signal.addEventListener("abort", leave, { once: true });
    const handOver = (): (() => void) => {
      isHandedOver = true;
      clearTimeout(timer);
      return () => stop(OVER);
    };
    return { signal: controller.signal, forget, handOver };
  }
}

/** The library's headers, and headers of the server that are not among them. */
function requestHeaders({ address, transport }: DirectParts): Readonly<Record<string, string>> {
  const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
  if (transport.sessionId !== undefined) headers.set("mcp-session-id", transport.sessionId);
  if (transport.protocolVersion !== undefined) headers.set("mcp-protocol-version", transport.protocolVersion);
  for (const [name, value] of Object.entries(address.headers)) if (!headers.has(name)) headers.set(name, value);
  return Object.fromEntries(headers);
}

/** The result, if the reply is one. */
function resultOf({ status, json }: OpenedReply, id: string): CallToolResult | null {
  const message = status === OK && json !== null ? jsonOrUndefined(json) : undefined;
  if (!isRecord(message) || message["id"] !== id || message["jsonrpc"] !== "2.0") return null;
  const result = lightResult(message["result"]);
  if (!isRecord(result) || !Array.isArray(result["content"])) return null;
  const validation = CALL_RESULT["~standard"].validate(result);
  return validation.issues === undefined ? validation.value : null;
}
