import type { ClientRequest, RequestOptions } from "@antiphon/contracts/responses-api/client.ts";
import { readPieces } from "./body-text.ts";
import type { CallWatch } from "./call-watch.ts";
import { InvalidReplyError } from "./errors.ts";
import { createEventCutter, RESPONSE_EVENTS } from "./event-stream.ts";
import { parseJson } from "./json-members.ts";
import { createLineCutter, SPEECH_MESSAGES } from "./line-stream.ts";
import { ReplyStream } from "./reply-stream.ts";

/** The form of a reply, and what its error events do if it is a stream. */
export interface ExpectedReply {
  readonly accept: ClientRequest["accept"];
  readonly errorEvents: NonNullable<RequestOptions["errorEvents"]>;
}

/** Reads a successful reply. A stream is returned as soon as it has begun. */
export async function readReply(
  response: Response,
  { accept, errorEvents }: ExpectedReply,
  watch: CallWatch,
): Promise<unknown> {
  switch (accept) {
    case "events":
    case "lines":
      return openStream(response, { accept, errorEvents }, watch);
    case "json":
      return readJson(response);
    case "text":
      return response.text();
    case "bytes":
      return new Uint8Array(await response.arrayBuffer());
    case "nothing":
      await response.body?.cancel();
      return undefined;
    default:
      return assertNever(accept);
  }
}

interface ExpectedStream extends ExpectedReply {
  readonly accept: "events" | "lines";
}

function openStream(response: Response, { accept, errorEvents }: ExpectedStream, watch: CallWatch): ReplyStream {
  const { body, headers } = response;
  const mediaType = accept === "events" ? "text/event-stream" : "application/x-ndjson";
  if (body === null || !(headers.get("content-type") ?? mediaType).startsWith(mediaType)) {
    throw invalidReply(response, `is not a stream of ${mediaType}`);
  }
  const cutter = accept === "events" ? createEventCutter() : createLineCutter();
  const kind = accept === "events" ? RESPONSE_EVENTS : SPEECH_MESSAGES;
  const streamKind = errorEvents === "yield" ? { ...kind, errorTypes: [] } : kind;
  return new ReplyStream(readPieces(body, cutter, watch), { watch, kind: streamKind, headers });
}

async function readJson(response: Response): Promise<unknown> {
  const value = parseJson(await response.text());
  if (value === undefined) throw invalidReply(response, "is not valid JSON");
  return value;
}

function invalidReply({ status, headers }: Response, fault: string): InvalidReplyError {
  const type = headers.get("content-type") ?? "unknown type";
  return new InvalidReplyError(
    `The reply with status ${status} and type ${type} ${fault}; request ${headers.get("x-request-id") ?? "unknown"}.`,
  );
}

function assertNever(accept: never): never {
  throw new TypeError(`Unknown kind of reply: ${String(accept)}.`);
}
