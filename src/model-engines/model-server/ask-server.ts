import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { readBodyStart } from "@antiphon/base/limits/read-body-start.ts";
import type { Dispatcher } from "undici";
import { requestBody } from "./connections/request-body.ts";
import type { ModelServerSecrets } from "./errors/redact.ts";

/** Address and headers of a model server, for calls other than turns. */
export interface ServerAddress {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** The path of the API, such as `/v1`, without a trailing slash. */
  readonly apiPath: string;
  /** The path before `/v1`, where servers have endpoints of their own. */
  readonly rootPath: string;
  /** The query of every call, with its question mark; empty if there is none. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: ModelServerSecrets;
}

/** The model server's reply to a call that is not a turn. */
export interface ServerReply {
  readonly status: number;
  /** Undefined if the reply is not JSON. */
  readonly body: unknown;
}

export interface ServerQuestion {
  readonly path: string;
  /** Sent by POST as JSON; without a body the call is a GET. */
  readonly body?: object;
  readonly replyBytesMax: number;
}

/** Makes one call. Null if no reply came; never throws. `signal` should have a time limit. */
export async function askServer(
  { dispatcher, origin, search, headers }: ServerAddress,
  { path, body, replyBytesMax }: ServerQuestion,
  signal: AbortSignal,
): Promise<ServerReply | null> {
  const separator = path.includes("?") && search !== "" ? `&${search.slice(1)}` : search;
  try {
    const { parts: _, ...post } = body === undefined ? { parts: [], headers: {} } : await requestBody(body);
    const reply = await dispatcher.request({
      origin,
      path: `${path}${separator}`,
      method: body === undefined ? "GET" : "POST",
      ...post,
      headers: { ...headers, accept: "application/json", ...post.headers },
      signal,
    });
    return { status: reply.statusCode, body: jsonOrUndefined(await readBodyStart(reply.body, replyBytesMax)) };
  } catch {
    return null; // No reply, for any reason; callers have a fallback.
  }
}

/** Whether the status means that the server has no such endpoint. */
export function isNotOffered({ status }: ServerReply): boolean {
  return status === 404 || status === 405 || status === 501;
}
