import type { Readable } from "node:stream";
import { beginExchange, type OutgoingCall } from "@antiphon/base/exchanges/exchange-recording.ts";
import { readJson } from "@antiphon/base/json/read-json.ts";
import type { Dispatcher } from "undici";
import { explainFailure } from "./ask-once.ts";
import { EgressError } from "./egress-error.ts";
import { tooLarge } from "./read-decoded-body.ts";
import { type Received, receiveReply } from "./receive-reply.ts";

const USER_AGENT = "antiphon";
/** Statuses of replies without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** One call of any method, and the limits of its reply. */
export interface OpenedCall {
  /** The kind of the called server, for storing the exchange; null if it belongs to no response. */
  readonly kind: OutgoingCall["kind"] | null;
  readonly method: string;
  /** Names are in lower case. */
  readonly headers: Headers | Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The maximum bytes of the reply's body. Reading beyond it fails with `EgressError`. */
  readonly bytesMax: number;
  /** Aborts the call and the reply's body. */
  readonly signal: AbortSignal;
  /** Called when a connection starts to send the call. Before, the server has received nothing. */
  readonly onSent?: () => void;
}

/** The reply to a call. */
export interface OpenedReply {
  readonly status: number;
  /** The whole body if its type is JSON; otherwise null. */
  readonly json: string | null;
  /** The same reply as a `Response`, which costs more. Call it at most once; required if `json` is null. */
  response(): Response;
}

/**
 * Sends the call and resolves when the head of its reply has arrived, or the whole reply if it is JSON. Rejects with
 * `EgressError` for a redirect.
 */
export async function openReply(agent: Dispatcher, url: URL, call: OpenedCall): Promise<OpenedReply> {
  const standing = { "user-agent": USER_AGENT, accept: "*/*" };
  const own = call.headers instanceof Headers ? Object.fromEntries(call.headers) : call.headers;
  const { kind, method } = call;
  const sent = () => ({ method, url: url.href, headers: Object.entries(own), body: call.body });
  const recording = kind === null ? null : beginExchange(() => ({ kind, ...sent() }));
  const { status, headers, text, body } = await receiveReply(agent, {
    recording,
    request: {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: call.method,
      headers: { ...standing, ...own, "accept-encoding": "identity" },
      body: call.body,
    },
    signal: call.signal,
    onSent: call.onSent,
    bytesMax: call.bytesMax,
    readsWhole: (head) => {
      refuseStrange(head);
      return BODILESS.has(head.status) || isJson(head);
    },
  });
  const head = (): ResponseInit => ({ status, headers: replyHeaders(headers) });
  if (text !== null && !BODILESS.has(status))
    return { status, json: text, response: () => new ReadReply(text, head()) };
  return {
    status,
    json: null,
    response: () => new Response(body === null ? null : limitedBody(body, call), head()),
  };
}

function refuseStrange({ status, headers }: Pick<Received, "status" | "headers">): void {
  if (status >= 300 && status < 400 && status !== 304)
    throw new EgressError(
      "redirected",
      "The remote server answered with a redirect, which this server does not follow",
    );
  if (status > 599) throw new EgressError("bad_status", "The remote server answered with a status that does not exist");
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity" && encoding !== "")
    throw new EgressError("bad_encoding", "The reply has a content encoding, although none was accepted");
}

function isJson({ headers }: Pick<Received, "headers">): boolean {
  return /^application\/json *(;|$)/i.test(String(headers["content-type"]));
}

/** A reply whose body is already read. Only `text` and `json` return it: streams cost much more. */
class ReadReply extends Response {
  readonly #text: string;

  constructor(text: string, head: ResponseInit) {
    super(null, head);
    this.#text = text;
  }

  override async text(): Promise<string> {
    return this.#text;
  }

  override async json(): Promise<unknown> {
    return readJson(this.#text);
  }
}

/** The body as a stream that reads no faster than its reader, and fails with errors that reveal no address. */
function limitedBody(body: Readable, { bytesMax, signal }: OpenedCall): ReadableStream<Uint8Array> {
  let bytes = 0;
  const pieces = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done === true) return controller.close();
          if (!(value instanceof Uint8Array)) return;
          bytes += value.length;
          if (bytes > bytesMax) throw tooLarge(bytesMax);
          controller.enqueue(value);
        } catch (error) {
          body.destroy();
          controller.error(signal.aborted ? signal.reason : explainFailure(error));
        }
      },
      async cancel() {
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function replyHeaders(fields: Received["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}
