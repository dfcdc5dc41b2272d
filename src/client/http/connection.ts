const RETRIES_MAX = 2;
const TIMEOUT_MS = 10 * 60 * 1000;

/** Where requests go, and what all of them have in common. */
export interface ConnectionOptions {
  /** With or without `/v1` at its end. */
  readonly baseUrl?: string;
  /** Sent as bearer token. */
  readonly apiKey?: string;
  /** Sent with every request; those of a single call win. */
  readonly defaultHeaders?: Readonly<Record<string, string>>;
  /** How often a call is tried again after a failure that may pass; 2 unless told. */
  readonly retriesMax?: number;
  /**
   * How long the server may be silent: until a reply is there, and within a stream. 10 minutes unless told; Node's own
   * fetch gives up after 5.
   */
  readonly timeoutMs?: number;
  /** In place of the global one. */
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
    headers: headersOf(apiKey, defaultHeaders),
    retriesMax,
    timeoutMs,
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
  };
}

function headersOf(apiKey: string | undefined, more: ConnectionOptions["defaultHeaders"]): Headers {
  const headers = new Headers(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });
  for (const [name, value] of Object.entries(more ?? {})) headers.set(name, value);
  return headers;
}

const VERSION_PREFIX = "/v1";

/** Base URLs of other clients end in the prefix that our paths begin with. */
export function urlOf(baseUrl: string, path: string): string {
  const isTwice = baseUrl.endsWith(VERSION_PREFIX) && path.startsWith(`${VERSION_PREFIX}/`);
  return baseUrl + (isTwice ? path.slice(VERSION_PREFIX.length) : path);
}
