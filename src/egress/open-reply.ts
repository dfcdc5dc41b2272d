import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { explainFailure } from "./ask-once.ts";
import { EgressError } from "./egress-error.ts";
import { tooLarge } from "./read-decoded-body.ts";

const USER_AGENT = "antiphon";
/** A reply up to this length is read before it is given on. */
const SHORT_BYTES_MAX = 65_536;
/** Statuses of replies without a body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** One call of any method, and the limits of its reply. */
export interface OpenedCall {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** Limit for the bytes of the reply's body. Reading beyond it fails with `EgressError`. */
  readonly bytesMax: number;
  /** Ends the call and the reply's body. */
  readonly signal: AbortSignal;
}

/** Sends the call and resolves when the head of its reply has arrived. Rejects with `EgressError` for a redirect. */
export async function openReply(agent: Dispatcher, url: URL, call: OpenedCall): Promise<Response> {
  const standing = { "user-agent": USER_AGENT, accept: "*/*" };
  const reply = await agent.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: call.method,
    headers: { ...standing, ...Object.fromEntries(call.headers), "accept-encoding": "identity" },
    body: call.body,
    signal: call.signal,
  });
  try {
    refuseStrange(reply);
  } catch (error) {
    reply.body.on("error", () => {}).destroy();
    throw error;
  }
  const body = BODILESS.has(reply.statusCode) ? null : await bodyOf(reply, call);
  if (body === null) reply.body.on("error", () => {}).resume();
  return new Response(body, { status: reply.statusCode, headers: headersOf(reply.headers) });
}

function refuseStrange({ statusCode, headers }: Dispatcher.ResponseData): void {
  if (statusCode >= 300 && statusCode < 400 && statusCode !== 304)
    throw new EgressError(
      "redirected",
      "The remote server answered with a redirect, which this server does not follow",
    );
  if (statusCode < 200 || statusCode > 599)
    throw new EgressError("bad_status", "The remote server answered with a status that does not exist");
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity" && encoding !== "")
    throw new EgressError("bad_encoding", "The reply has a content encoding, although none was accepted");
}

/** A short JSON text whole, since streams cost much more; else a stream. */
async function bodyOf({ headers, body }: Dispatcher.ResponseData, call: OpenedCall): Promise<BodyInit> {
  const length = Number(headers["content-length"] ?? Number.NaN);
  const isShort = length > 0 && length <= Math.min(SHORT_BYTES_MAX, call.bytesMax);
  const isJson = /^application\/json(;|$)/.test(String(headers["content-type"]));
  if (!isShort || !isJson) return limitedBody(body, call);
  return await body.arrayBuffer();
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

function headersOf(fields: Dispatcher.ResponseData["headers"]): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}
