import type { Fetch } from "../http/connection.ts";
import { AntiphonError } from "../http/errors.ts";
import { type OpenKeyedSocket, platformSocket } from "./keyed-socket.ts";

const BASE_URL = "http://127.0.0.1:8238";
/** Less than half of the 300 s after which the service drops who is silent: one may get lost. */
const HEARTBEAT_MS = 120_000;
/** Any longer, and the service would be faster. */
const HEARTBEAT_MS_MAX = 290_000;
const RATE_LIMIT_WAIT_MS = 60_000;
const ATTEMPTS_MAX = 5;
const TIMEOUT_MS = 5 * 60_000;
/** Longer timers fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface CloudSpeechOptions {
  /** Sent in `x-api-key`. */
  readonly apiKey: string;
  /**
   * Where the service is, such as `https://stt.example.com`; http is for loopback hosts only. `http://127.0.0.1:8238`
   * unless told, where `antiphon stt-cloud` listens.
   */
  readonly baseUrl?: string;
  /**
   * After how long without a message a heartbeat is sent: 120 s unless told, 290 s at most. The service drops who is
   * silent for 300 s.
   */
  readonly heartbeatMs?: number;
  /** How long to wait after a rate limit that names no time: 60 s unless told. */
  readonly rateLimitWaitMs?: number;
  /**
   * How often it is tried to open a stream, the first time among them; 5 unless told. A refused key is not tried again.
   */
  readonly attemptsMax?: number;
  /**
   * How long the service may take to open a stream, and for each message after the last piece: 5 minutes unless told.
   */
  readonly timeoutMs?: number;
  /** In place of the global WebSocket, which Node has from version 22 on. It has to send the headers. */
  readonly openSocket?: OpenKeyedSocket;
  /** In place of the global one: it asks why an upgrade was refused where the socket does not tell. */
  readonly fetch?: Fetch;
}

/** The service, and how to deal with it. */
export interface CloudService {
  /** Of http or https, without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly heartbeatMs: number;
  readonly rateLimitWaitMs: number;
  readonly attemptsMax: number;
  readonly timeoutMs: number;
  readonly openSocket: OpenKeyedSocket;
  readonly fetch: Fetch;
}

/** Throws `AntiphonError` for options that can never work. */
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
    throw new AntiphonError("The key would travel in the clear: use https, or http on the loopback address only.");
  return url.href.replace(/\/+$/, "");
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
