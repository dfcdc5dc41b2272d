const RETRIES_MAX = 2;
const TIMEOUT_MS = 10 * 60 * 1000;

/** The server's address, credentials, and settings for all requests. */
export interface ConnectionOptions {
  /** With or without a trailing `/v1`. */
  readonly baseUrl?: string;
  /** Sent as a bearer token. */
  readonly apiKey?: string;
  /** Headers of every request. Headers of a single call take precedence. */
  readonly defaultHeaders?: Readonly<Record<string, string>>;
  /** Maximum retries of a call after a transient failure; 2 by default. */
  readonly retriesMax?: number;
  /**
   * How long the server may be silent, in milliseconds: before a reply, and between the parts of a stream. 10 minutes
   * by default; Node's own fetch gives up after 5.
   */
  readonly timeoutMs?: number;
  /** Used in place of the global `fetch`. */
  readonly fetch?: Fetch;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Connection {
  readonly baseUrl: string;
  readonly headers: Headers;
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
}

export function connectionOf(options: ConnectionOptions, baseUrl: string): Connection {
  const { apiKey, defaultHeaders, retriesMax = RETRIES_MAX, timeoutMs = TIMEOUT_MS } = options;
  return {
    baseUrl: new URL(options.baseUrl ?? baseUrl).href.replace(/\/+$/, ""),
    headers: connectionHeaders(apiKey, defaultHeaders),
    retriesMax,
    timeoutMs,
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
  };
}

function connectionHeaders(apiKey: string | undefined, more: ConnectionOptions["defaultHeaders"]): Headers {
  const headers = new Headers(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });
  for (const [name, value] of Object.entries(more ?? {})) headers.set(name, value);
  return headers;
}

const VERSION_PREFIX = "/v1";

/** Joins base URL and path. A trailing `/v1` of the base URL, as other clients need it, is not repeated. */
export function urlOf(baseUrl: string, path: string): string {
  const isTwice = baseUrl.endsWith(VERSION_PREFIX) && path.startsWith(`${VERSION_PREFIX}/`);
  return baseUrl + (isTwice ? path.slice(VERSION_PREFIX.length) : path);
}
