import type { ServerResponse } from "node:http";
import type { ApiError } from "@antiphon/base/api-error.ts";
import { assert } from "@antiphon/base/assert.ts";
import { EventFrames } from "@antiphon/base/event-frames.ts";
import { isSmall, writeJsonBytes } from "@antiphon/base/json/write-json.ts";
import { discardBody, isBodyPending } from "../body/body-chunks.ts";
import type { Validator } from "../contract.ts";
import { type Exchange, writeHead } from "../exchange/exchange.ts";
import type { Unread } from "../exchange/unread-bytes.ts";
import { errorReply } from "../faults.ts";
import type { EventsReply, Reply, ReplyHeaders } from "../handler.ts";
import type { ServedInterface } from "../options.ts";
import { writeBytes } from "./write-bytes.ts";
import { frameStream, ndjsonStream, sseStream, writeStream } from "./write-stream.ts";

/**
 * Writes a handler's reply in the form that its members choose. This and `writeJsonReply` are not async functions,
 * because those would keep the reply in memory, beside its bytes, until the client has read it.
 */
export function writeReply(exchange: Exchange, reply: Reply, service: ServedInterface): Promise<void> {
  const { contract, faults, options } = service;
  const operationId = exchange.operationId ?? "";
  if ("events" in reply) {
    return writeEvents(exchange, reply, service);
  }
  if ("lines" in reply) {
    const lines = checkEach(reply.lines, contract.eventValidators?.[operationId]);
    return writeStream(exchange, ndjsonStream({ ...reply, lines }, faults), faults);
  }
  const { status, headers } = reply;
  if ("body" in reply) {
    if (status < 300) assertValid(reply.body, contract.replyValidators?.[operationId]);
    return writeJsonReply(exchange, { status, headers: headers ?? {}, body: reply.body }, options.prettyJson);
  }
  if ("text" in reply) {
    const contentType = reply.contentType ?? "text/plain; charset=utf-8";
    return writeWhole(exchange, status, { "content-type": contentType, ...headers }, Buffer.from(reply.text));
  }
  if ("bytes" in reply) {
    const { bytes, contentType } = reply;
    const allHeaders = { "content-type": contentType, ...headers };
    if (bytes instanceof Uint8Array) return writeWhole(exchange, status, allHeaders, bytes);
    return writeBytes(exchange, status, allHeaders, bytes);
  }
  return writeWhole(exchange, status, headers ?? {}, null);
}

function writeEvents(exchange: Exchange, reply: EventsReply, service: ServedInterface): Promise<void> {
  const { contract, faults, options } = service;
  const validator = contract.eventValidators?.[exchange.operationId ?? ""];
  if (reply.events instanceof EventFrames) {
    const { events } = reply;
    const texts = checkedFrames(events, validator);
    const errorBody = (error: ApiError): object => errorReply(error, exchange, faults).body;
    return writeStream(
      exchange,
      frameStream({ ...reply, texts, form: events.form, errorBody }, options.keepAliveMs, faults),
      faults,
    );
  }
  const events = checkEach(reply.events, validator);
  return writeStream(exchange, sseStream({ ...reply, events }, options.keepAliveMs, faults), faults);
}

interface JsonReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function writeJsonReply(
  exchange: Exchange,
  { status, headers, body }: JsonReply,
  pretty: boolean,
): Promise<void> {
  const allHeaders = { "content-type": "application/json", ...headers };
  const indent = pretty ? 2 : 0;
  if (!isSmall(body))
    return writeJsonBytes(body, indent).then((parts) => writeWhole(exchange, status, allHeaders, parts));
  return writeText(exchange, status, allHeaders, JSON.stringify(body, null, indent));
}

/** Writes a text. Node sends head and text as one string, so a short text needs no buffer. */
async function writeText(exchange: Exchange, status: number, headers: ReplyHeaders, text: string): Promise<void> {
  const { request, response } = exchange;
  const size = Buffer.byteLength(text);
  if (isBodyPending(request) || size > PIECE_BYTES)
    return await writeWhole(exchange, status, headers, Buffer.from(text));
  if (response.destroyed) return;
  writeHead(exchange, status, headers, size);
  const unread = openUnread(exchange);
  response.end(text);
  unread.update(size);
}

async function* validateEach<T extends object>(values: AsyncIterable<T>, validator: Validator): AsyncGenerator<T> {
  for await (const value of values) {
    assertValid(value, validator);
    yield value;
  }
}

function checkEach<T extends object>(values: AsyncIterable<T>, validator: Validator | undefined): AsyncIterable<T> {
  return validator === undefined ? values : validateEach(values, validator);
}

async function* validatedFrames(events: EventFrames<object>, validator: Validator): AsyncGenerator<string> {
  for await (const text of events.texts) {
    for (const event of events.eventsIn(text)) assertValid(event, validator);
    yield text;
  }
}

function checkedFrames(events: EventFrames<object>, validator: Validator | undefined): AsyncIterable<string> {
  return validator === undefined ? events.texts : validatedFrames(events, validator);
}

function assertValid(value: unknown, validator: Validator | undefined): void {
  if (validator === undefined || validator(value)) return;
  assert(false, `replies match the contract: ${JSON.stringify(validator.errors)}`);
}

/** Bytes written at once. Longer content is written in pieces, so that the reader's progress can be seen. */
const PIECE_BYTES = 256 * 1024;

/**
 * Writes a complete reply. If the request's body is still arriving, reads it up to a limit before closing, so that a
 * client that sends before it reads gets the reply and not a connection reset.
 */
export async function writeWhole(
  exchange: Exchange,
  status: number,
  headers: ReplyHeaders,
  content: Uint8Array | readonly Uint8Array[] | null,
): Promise<void> {
  const { request, response } = exchange;
  if (response.destroyed) return;
  const parts = content === null || content instanceof Uint8Array ? [content ?? NOTHING] : content;
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  writeHead(exchange, status, headers, content === null ? undefined : size);
  const unread = openUnread(exchange);
  const [first = NOTHING] = parts;
  if (!isBodyPending(request) && parts.length === 1 && size <= PIECE_BYTES) {
    response.end(size === 0 ? undefined : first);
    if (size > 0) unread.update(size);
    return;
  }
  if (size === 0) response.flushHeaders();
  else await writePieces(response, parts, size, unread);
  const isRead = await discardBody(request);
  response.end(() => {
    if (!isRead) request.destroy();
  });
}

/** Counts the reply's unread bytes until it closes. */
function openUnread(exchange: Exchange): Unread {
  const unread = exchange.openUnread();
  exchange.response.once("close", () => unread.update(0));
  return unread;
}

const NOTHING = new Uint8Array(0);

/** All bytes count as unread until the last piece is read, because the whole content stays in memory. */
async function writePieces(
  response: ServerResponse,
  parts: readonly Uint8Array[],
  size: number,
  unread: Unread,
): Promise<void> {
  for (const part of parts) {
    for (let start = 0; start < part.length && !response.destroyed; start += PIECE_BYTES) {
      unread.update(size);
      if (!response.write(part.subarray(start, start + PIECE_BYTES))) await waitForRoom(response);
    }
  }
}

/** Resolves when more can be written, or when the reply has closed. */
function waitForRoom(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = (): void => {
    response.off("drain", finish).off("close", finish);
    resolve();
  };
  response.on("drain", finish).on("close", finish);
  return promise;
}
