import type {
  ChannelOptions,
  ChannelRequest,
  MessageStream,
  OpenChannel,
} from "../../../generated/local-stt/cloud-client.ts";
import { abortedBy, CallWatch } from "../http/call-watch.ts";
import { APIConnectionError, APITimeoutError, RateLimitError, silentFor } from "../http/errors.ts";
import { cloudErrorOf, readError } from "../http/read-error.ts";
import { ReplyStream } from "../http/reply-stream.ts";
import { askedWaitMs, retryWaitMs, waitFor } from "../http/retry.ts";
import { trustReply } from "../http/trust-reply.ts";
import type { CloudService } from "./cloud-service.ts";
import { CloudSpeaker } from "./cloud-speaker.ts";
import { type KeyedSocket, watchRefusal } from "./keyed-socket.ts";
import { SocketInbox } from "./socket-inbox.ts";

/** A service that asks for more patience is not waited for: its error says when to come back. */
const RATE_LIMIT_WAIT_MS_MAX = 10 * 60_000;
/** A stream has no time in which the service must be heard: it says nothing while nobody speaks. */
const NO_TIMEOUT_MS = Number.POSITIVE_INFINITY;

/**
 * Opens streams: waits for rate limits to end, and tries failures again that may pass. Rejects with the last of them,
 * and with a refused key at once.
 */
export function createOpenChannel(service: CloudService): OpenChannel {
  const pause = new RateLimitPause();
  return async <Message>(request: ChannelRequest, { signal }: ChannelOptions = {}): Promise<MessageStream<Message>> => {
    for (let attempt = 1; ; attempt += 1) {
      await pause.over(signal);
      try {
        return trustReply(await new Opening(service, request, pause, signal).open());
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

/** Null: trying again does not help. */
function waitAfter(error: unknown, attempt: number, { rateLimitWaitMs }: CloudService): number | null {
  const nowMs = Date.now();
  if (!(error instanceof RateLimitError))
    return retryWaitMs(error, { retries: attempt - 1, nowMs, chance: Math.random() });
  const waitMs = askedWaitMs(error.headers, nowMs) ?? rateLimitWaitMs;
  return waitMs <= RATE_LIMIT_WAIT_MS_MAX ? Math.max(0, waitMs) : null;
}

/** One try. */
class Opening {
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
    const timer = setTimeout(() => this.#watch.end(silentFor(timeoutMs)), timeoutMs);
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

  /** Why the socket did not open, as far as anybody tells. */
  async #reasonOf(error: unknown, refusal: Response | null): Promise<unknown> {
    if (refusal !== null) return readError(refusal);
    return error instanceof APIConnectionError && !(error instanceof APITimeoutError) ? this.#askWhy(error) : error;
  }

  /**
   * Sockets of most platforms do not tell why they were refused. The service answers a plain request as it would an
   * upgrade.
   */
  async #askWhy(failure: APIConnectionError): Promise<unknown> {
    const { baseUrl, timeoutMs, fetch } = this.#service;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = this.#signal === undefined ? timeout : AbortSignal.any([this.#signal, timeout]);
    try {
      const url = baseUrl + this.#request.address;
      const reply = await fetch(url, { headers: this.#headers(), redirect: "manual", signal });
      if (isAnswerToUpgrades(reply.status)) return await readError(reply);
      await reply.body?.cancel();
    } catch (cause) {
      if (this.#signal?.aborted === true) return abortedBy(this.#signal.reason);
      return new APIConnectionError(`The connection to ${baseUrl} failed.`, { cause });
    }
    return failure;
  }

  #headers(): Record<string, string> {
    return { [this.#request.keyHeader]: this.#service.apiKey };
  }
}

/** Others say no more than that the request was no upgrade. */
function isAnswerToUpgrades(status: number): boolean {
  return [401, 403, 404, 429].includes(status) || status >= 500;
}

/** Streams that waited together do not all come back in the same moment. */
const SPREAD_MS_MAX = 1000;
const SPREAD_SHARE = 0.05;

/** The wait after a rate limit, which all streams of a client share. */
class RateLimitPause {
  #endsAt = 0;

  /** Nobody tries again before that many milliseconds have passed. */
  begin(waitMs: number): void {
    this.#endsAt = Math.max(this.#endsAt, performance.now() + waitMs);
  }

  /** Resolves when it is over; rejects when the signal aborts. */
  async over(signal: AbortSignal | undefined): Promise<void> {
    for (let leftMs = this.#leftMs(); leftMs > 0; leftMs = this.#leftMs()) {
      await waitFor(leftMs + Math.random() * Math.min(SPREAD_MS_MAX, leftMs * SPREAD_SHARE), signal);
    }
  }

  #leftMs(): number {
    return this.#endsAt - performance.now();
  }
}
