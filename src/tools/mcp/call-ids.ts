import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { jsonOrUndefined } from "../../base/json/read-json.ts";
import { isRecord } from "../../base/json/records.ts";
import type { OpenedReply } from "../../egress/open-reply.ts";

/** The begun reply to a call that was sent directly. The client library has to read it. */
export interface BegunReply {
  /** The id under which the call was sent. */
  readonly id: string;
  readonly reply: OpenedReply;
  /** Ends the reply's body. */
  readonly stop: () => void;
}

/**
 * The ids of calls that were sent directly and whose replies the library reads under ids of its own. Messages of the
 * server name the one, those to the server the other.
 */
export class CallIds {
  /** The library's ids by those that were sent. */
  readonly #own = new Map<string, number>();

  add(sent: string, own: number): void {
    this.#own.set(sent, own);
  }

  delete(sent: string): void {
    this.#own.delete(sent);
  }

  /** A message of the server as the library expects it. */
  received<Message extends JSONRPCMessage>(message: Message): Message {
    if (this.#own.size === 0) return message;
    if (!("method" in message))
      return this.#own.has(String(message.id)) ? { ...message, id: this.#ownOf(message.id) } : message;
    const { params } = message;
    const token = params?._meta === undefined && isRecord(params) ? params["progressToken"] : undefined;
    if (message.method !== "notifications/progress" || !this.#own.has(String(token))) return message;
    return { ...message, params: { ...params, progressToken: this.#ownOf(token) } };
  }

  /** The body of a message of the library as the server expects it: it may name a call that is given up. */
  sent(body: string): string {
    if (this.#own.size === 0) return body;
    const message = jsonOrUndefined(body);
    if (!isRecord(message) || !isRecord(message["params"])) return body;
    const { requestId } = message["params"];
    const found = [...this.#own].find(([, own]) => own === requestId);
    if (found === undefined) return body;
    return JSON.stringify({ ...message, params: { ...message["params"], requestId: found[0] } });
  }

  #ownOf(sent: unknown): number | undefined {
    return this.#own.get(String(sent));
  }
}
