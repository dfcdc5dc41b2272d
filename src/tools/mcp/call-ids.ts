import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { OpenedReply } from "@antiphon/egress/open-reply.ts";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/** The begun reply to a directly sent call. The client library must read it. */
export interface BegunReply {
  /** The id of the sent call. */
  readonly id: string;
  readonly reply: OpenedReply;
  /** Aborts the reply's body. */
  readonly stop: () => void;
}

/**
 * Maps the ids of directly sent calls to the library's own ids, under which it reads the replies. Messages from the
 * server use the former, messages to the server the latter.
 */
export class CallIds {
  /** The library's ids, by the sent ids. */
  readonly #own = new Map<string, number>();

  add(sentId: string, own: number): void {
    this.#own.set(sentId, own);
  }

  delete(sentId: string): void {
    this.#own.delete(sentId);
  }

  /** Translates a message from the server for the library. */
  readMessage<Message extends JSONRPCMessage>(message: Message): Message {
    if (this.#own.size === 0) return message;
    if (!("method" in message))
      return this.#own.has(String(message.id)) ? { ...message, id: this.#ownOf(message.id) } : message;
    const { params } = message;
    const token = params?._meta === undefined && isRecord(params) ? params["progressToken"] : undefined;
    if (message.method !== "notifications/progress" || !this.#own.has(String(token))) return message;
    return { ...message, params: { ...params, progressToken: this.#ownOf(token) } };
  }

  /** Translates a message body from the library for the server: it may name an abandoned call. */
  writeBody(body: string): string {
    if (this.#own.size === 0) return body;
    const message = jsonOrUndefined(body);
    if (!isRecord(message) || !isRecord(message["params"])) return body;
    const { requestId } = message["params"];
    const entry = [...this.#own].find(([, own]) => own === requestId);
    if (entry === undefined) return body;
    return JSON.stringify({ ...message, params: { ...message["params"], requestId: entry[0] } });
  }

  #ownOf(sentId: unknown): number | undefined {
    return this.#own.get(String(sentId));
  }
}
