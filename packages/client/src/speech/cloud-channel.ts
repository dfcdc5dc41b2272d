import type {
  ChannelOptions,
  ChannelRequest,
  MessageStream,
  OpenChannel,
} from "@antiphon/contracts/local-stt/cloud-client.ts";
import { abortError, CallWatch } from "../http/call-watch.ts";
import { APIConnectionError, APITimeoutError, RateLimitError, timeoutError } from "../http/errors.ts";
import { cloudErrorOf, readError } from "../http/read-error.ts";
import { ReplyStream } from "../http/reply-stream.ts";
import { askedWaitMs, retryWaitMs, waitFor } from "../http/retry.ts";
import { trustReply } from "../http/trust-reply.ts";
import type { CloudService } from "./cloud-service.ts";
import { CloudSpeaker } from "./cloud-speaker.ts";
import { type KeyedSocket, watchRefusal } from "./keyed-socket.ts";
import { SocketInbox } from "./socket-inbox.ts";

/** If the service asks for a longer wait, the call rejects; the error's headers contain the wait. */
const RATE_LIMIT_WAIT_MS_MAX = 10 * 60_000;
/** An open stream has no timeout, because the service sends nothing while nobody speaks. */
const NO_TIMEOUT_MS = Number.POSITIVE_INFINITY;

/**
 * Opens streams. Waits for rate limits and retries transient failures. Rejects with the last failure, and at once if
 * the key is refused.
 */
export function createOpenChannel(service: CloudService): OpenChannel {
  const pause = new RateLimitPause();
  return async <Message>(request: ChannelRequest, { signal }: ChannelOptions = {}): Promise<MessageStream<Message>> => {
    for (let attempt = 1; ; attempt += 1) {
      await pause.wait(signal);
      try {
        return trustReply(await new OpenAttempt(service, request, pause, signal).open());
      } catch (error) {
        const waitMs = waitAfter(error, attempt, service);
        const isRateLimit = error instanceof RateLimitError;
        if (isRateLimit) pause.begin(waitMs ?? service.rateLimitWaitMs);
        if (waitMs === null || attempt >= service.attemptsMax) throw error;
        if (!isRateLimit) await waitFor(waitMs, signal);
      }
    }
  };
}

/** Milliseconds to wait before the next attempt; null if another attempt would not help. */
function waitAfter(error: unknown, attempt: number, { rateLimitWaitMs }: CloudService): number | null {
  const nowMs = Date.now();
  if (!(error instanceof RateLimitError))
    return retryWaitMs(error, { retries: attempt - 1, nowMs, chance: Math.random() });
  const waitMs = askedWaitMs(error.headers, nowMs) ?? rateLimitWaitMs;
  return waitMs <= RATE_LIMIT_WAIT_MS_MAX ? Math.max(0, waitMs) : null;
}

/** One attempt to open a stream. */
class OpenAttempt {
  readonly #service: CloudService;
  readonly #request: ChannelRequest;
  readonly #pause: RateLimitPause;
  readonly #signal: AbortSignal | undefined;
  readonly #watch: CallWatch;

  constructor(service: CloudService, request: ChannelRequest, pause: RateLimitPause, signal: AbortSignal | undefined) {
    this.#service = service;
    this.#request = request;
    this.#pause = pause;
    this.#signal = signal;
    this.#watch = new CallWatch({ signal, timeoutMs: NO_TIMEOUT_MS });
  }

  async open(): Promise<ReplyStream> {
    const { baseUrl, timeoutMs, openSocket } = this.#service;
    this.#watch.signal.throwIfAborted();
    const socket = openSocket(baseUrl.replace(/^http/, "ws") + this.#request.address, this.#headers());
    const refusal = watchRefusal(socket);
    const inbox = new SocketInbox(socket, this.#watch);
    const timer = setTimeout(() => this.#watch.end(timeoutError(timeoutMs)), timeoutMs);
    try {
      await inbox.open();
    } catch (error) {
      throw await this.#reasonOf(error, refusal());
    } finally {
      clearTimeout(timer);
    }
    return this.#start(socket, inbox);
  }

  #start(socket: KeyedSocket, inbox: SocketInbox): ReplyStream {
    const speaker = new CloudSpeaker(socket, inbox, this.#watch, this.#service);
    speaker.begin(this.#request.messages);
    const kind = {
      lastTypes: [],
      errorTypes: ["error"],
      endsInOrder: () => speaker.hasEnded && inbox.wasClosedInOrder,
      errorOf: (event: unknown) => {
        const error = cloudErrorOf(event);
        if (error instanceof RateLimitError) this.#pause.begin(this.#service.rateLimitWaitMs);
        return error;
      },
    };
    return new ReplyStream(inbox.read(), { watch: this.#watch, kind, headers: new Headers() });
  }

  /** The error of a socket that did not open, as far as the reason is known. */
  async #reasonOf(error: unknown, refusal: Response | null): Promise<unknown> {
    if (refusal !== null) return readError(refusal);
    return error instanceof APIConnectionError && !(error instanceof APITimeoutError)
      ? this.#probeReason(error)
      : error;
  }

  /**
   * Asks for the reason with a plain request, which the service answers like the upgrade. Most platforms do not report
   * why a WebSocket was refused.
   */
  async #probeReason(failure: APIConnectionError): Promise<unknown> {
    const { baseUrl, timeoutMs, fetch } = this.#service;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = this.#signal === undefined ? timeout : AbortSignal.any([this.#signal, timeout]);
    try {
      const url = baseUrl + this.#request.address;
      const reply = await fetch(url, { headers: this.#headers(), redirect: "manual", signal });
      if (isAnswerToUpgrades(reply.status)) return await readError(reply);
      await reply.body?.cancel();
    } catch (cause) {
      if (this.#signal?.aborted === true) return abortError(this.#signal.reason);
      return new APIConnectionError(`The connection to ${baseUrl} failed.`, { cause });
    }
    return failure;
  }

  #headers(): Record<string, string> {
    return { [this.#request.keyHeader]: this.#service.apiKey };
  }
}

/** Other statuses only mean that the request was not an upgrade. */
function isAnswerToUpgrades(status: number): boolean {
  return [401, 403, 404, 429].includes(status) || status >= 500;
}

/** Jitter, so that streams that waited together do not all reconnect at the same moment. */
const JITTER_MS_MAX = 1000;
const JITTER_SHARE = 0.05;

/** The wait after a rate limit, shared by all streams of a client. */
class RateLimitPause {
  #endsAt = 0;

  /** Delays all attempts by at least `waitMs` milliseconds from now. */
  begin(waitMs: number): void {
    this.#endsAt = Math.max(this.#endsAt, performance.now() + waitMs);
  }

  /** Resolves when the wait is over; rejects when the signal aborts. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) {
      await waitFor(leftMs + Math.random() * Math.min(JITTER_MS_MAX, leftMs * JITTER_SHARE), signal);
    }
  }

  #leftMs(): number {
    return this.#endsAt - performance.now();
  }
}
