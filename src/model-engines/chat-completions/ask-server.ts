import type { Dispatcher } from "undici";
import { jsonOrUndefined } from "../../base/json/read-json.ts";
import { readBody } from "./read-body.ts";
import { requestBody } from "./request-body.ts";

/** Where a model server is, and how it wants to be asked beside its turns. */
export interface ServerAddress {
  readonly dispatcher: Dispatcher;
  readonly origin: string;
  /** The path of the API, such as `/v1`, without a slash at its end. */
  readonly apiPath: string;
  /** What comes before `/v1`, where servers keep what is theirs alone. */
  readonly rootPath: string;
  /** A query that every call carries, with its question mark, or nothing. */
  readonly search: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the model server answered outside a turn. */
export interface ServerReply {
  readonly status: number;
  /** Undefined where the reply is no JSON. */
  readonly body: unknown;
}

export interface ServerQuestion {
  readonly path: string;
  /** Posted as JSON; without it the question is a GET. */
  readonly body?: object;
  readonly replyBytesMax: number;
}

/** One question, one reply; null where none came. `signal` should carry a time limit. */
export async function askServer(
  { dispatcher, origin, search, headers }: ServerAddress,
  { path, body, replyBytesMax }: ServerQuestion,
  signal: AbortSignal,
): Promise<ServerReply | null> {
  const separator = path.includes("?") && search !== "" ? `&${search.slice(1)}` : search;
  try {
    const posted = body === undefined ? { headers: {} } : await requestBody(body);
    const reply = await dispatcher.request({
      origin,
      path: `${path}${separator}`,
      method: body === undefined ? "GET" : "POST",
      ...posted,
      headers: { ...headers, accept: "application/json", ...posted.headers },
      signal,
    });
    return { status: reply.statusCode, body: jsonOrUndefined(await readBody(reply.body, replyBytesMax)) };
  } catch {
    return null; // Whatever went wrong below HTTP: there is no reply, and the asker has another way.
  }
}

/** Statuses by which servers say that they have no such endpoint. */
export function isNotOffered({ status }: ServerReply): boolean {
  return status === 404 || status === 405 || status === 501;
}
