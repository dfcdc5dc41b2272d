import { assert } from "../../base/assert.ts";
import type { Contract, Validator } from "../contract.ts";
import type { Faults } from "../faults.ts";
import type { Reply } from "../handler.ts";
import type { Exchange } from "../http/exchange.ts";
import type { TransportOptions } from "../options.ts";
import { ndjsonStream } from "./ndjson.ts";
import { sseStream } from "./sse.ts";
import { writeBytes } from "./write-bytes.ts";
import { writeStream } from "./write-stream.ts";
import { writeWhole } from "./write-whole.ts";

export interface ReplyParts {
  readonly contract: Pick<Contract, "replyValidators" | "eventValidators">;
  readonly options: Pick<TransportOptions, "prettyJson" | "keepAliveMs">;
  readonly faults: Faults;
}

/**
 * Writes what a handler answered, in the form the reply itself names. This and `writeJson` are no async functions:
 * those would keep the reply in memory, beside the bytes that are made of it, until its reader has taken them.
 */
export function writeReply(exchange: Exchange, reply: Reply, parts: ReplyParts): Promise<void> {
  const { faults, options } = parts;
  const operationId = exchange.operationId ?? "";
  if ("events" in reply) {
    const events = checked(reply.events, parts.contract.eventValidators?.[operationId]);
    return writeStream(exchange, sseStream({ ...reply, events }, options.keepAliveMs, faults), faults);
  }
  if ("lines" in reply) {
    const lines = checked(reply.lines, parts.contract.eventValidators?.[operationId]);
    return writeStream(exchange, ndjsonStream({ ...reply, lines }, faults), faults);
  }
  const { status, headers } = reply;
  if ("body" in reply) {
    if (status < 300) assertValid(reply.body, parts.contract.replyValidators?.[operationId]);
    return writeJson(exchange, { status, headers: headers ?? {}, body: reply.body }, options.prettyJson);
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

interface JsonReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function writeJson(exchange: Exchange, { status, headers, body }: JsonReply, pretty: boolean): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body, null, pretty ? 2 : undefined));
  return writeWhole(exchange, status, { "content-type": "application/json", ...headers }, bytes);
}

async function* validated<T extends object>(values: AsyncIterable<T>, validator: Validator): AsyncGenerator<T> {
  for await (const value of values) {
    assertValid(value, validator);
    yield value;
  }
}

function checked<T extends object>(values: AsyncIterable<T>, validator: Validator | undefined): AsyncIterable<T> {
  return validator === undefined ? values : validated(values, validator);
}

function assertValid(value: unknown, validator: Validator | undefined): void {
  if (validator === undefined || validator(value)) return;
  assert(false, `what we send keeps the contract: ${JSON.stringify(validator.errors)}`);
}
