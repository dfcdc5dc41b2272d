import type { Fetch } from "../http/connection.ts";
import { AntiphonError } from "../http/errors.ts";
import { type OpenKeyedSocket, platformSocket } from "./keyed-socket.ts";

const BASE_URL = "http://127.0.0.1:8238";
/** Less than half of the 300 s after which the service closes a silent stream, so that one heartbeat may be lost. */
const HEARTBEAT_MS = 120_000;
/** Less than the 300 s after which the service closes a silent stream. */
const HEARTBEAT_MS_MAX = 290_000;
const RATE_LIMIT_WAIT_MS = 60_000;
const ATTEMPTS_MAX = 5;
const TIMEOUT_MS = 5 * 60_000;
/** The longest delay of a timer; longer ones fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface CloudSpeechOptions {
  /** Printable ASCII without spaces, sent in the header `x-api-key`. */
  readonly apiKey: string;
  /**
   * The address of the service, such as `https://stt.example.com`; http is allowed for loopback hosts only. The
   * default, `http://127.0.0.1:8238`, is where `antiphon stt-cloud` listens.
   */
  readonly baseUrl?: string;
  /**
   * Milliseconds without a message after which a heartbeat is sent: 120 s by default, 290 s at most. The service closes
   * a stream that is silent for 300 s.
   */
  readonly heartbeatMs?: number;
  /** Milliseconds to wait after a rate limit that names no time; 60 s by default. */
  readonly rateLimitWaitMs?: number;
  /** Maximum attempts to open a stream, including the first; 5 by default. A refused key is not retried. */
  readonly attemptsMax?: number;
  /**
   * Milliseconds in which the service must open a stream, and in which it must send each message after the last audio;
   * 5 minutes by default.
   */
  readonly timeoutMs?: number;
  /** Opens WebSockets in place of the global `WebSocket`, which Node has since version 22. It must send the headers. */
  readonly openSocket?: OpenKeyedSocket;
  /** Used in place of the global `fetch`, to ask why an upgrade was refused if the socket does not report it. */
  readonly fetch?: Fetch;
}

/** The address and key of the service, and the settings of its streams. */
export interface CloudService {
  /** With http or https, and without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly heartbeatMs: number;
  readonly rateLimitWaitMs: number;
  readonly attemptsMax: number;
  readonly timeoutMs: number;
  readonly openSocket: OpenKeyedSocket;
  readonly fetch: Fetch;
}

/** Checks the options and adds the defaults. Throws an `AntiphonError` if an option is invalid. */
export function cloudServiceOf(options: CloudSpeechOptions): CloudService {
  const {
    apiKey,
    heartbeatMs = HEARTBEAT_MS,
    rateLimitWaitMs = RATE_LIMIT_WAIT_MS,
    attemptsMax = ATTEMPTS_MAX,
    timeoutMs = TIMEOUT_MS,
    openSocket = platformSocket(),
    fetch = (url, init) => globalThis.fetch(url, init),
  } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new AntiphonError("apiKey must be printable ASCII, without spaces.");
  checkRange("heartbeatMs", heartbeatMs, HEARTBEAT_MS_MAX);
  checkRange("rateLimitWaitMs", rateLimitWaitMs, TIMER_MS_MAX);
  checkRange("attemptsMax", attemptsMax, Number.MAX_SAFE_INTEGER);
  checkRange("timeoutMs", timeoutMs, TIMER_MS_MAX);
  const baseUrl = checkedUrl(options.baseUrl ?? BASE_URL);
  return { baseUrl, apiKey, heartbeatMs, rateLimitWaitMs, attemptsMax, timeoutMs, openSocket, fetch };
}

function checkRange(name: string, value: number, max: number): void {
  if (!(value >= 1 && value <= max)) throw new AntiphonError(`${name} must be from 1 to ${max}.`);
}

function checkedUrl(text: string): string {
  const url = new URL(text.replace(/^ws/i, "http"));
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    throw new AntiphonError("The key would travel in the clear: use https, or http on a loopback address only.");
  return url.href.replace(/\/+$/, "");
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
