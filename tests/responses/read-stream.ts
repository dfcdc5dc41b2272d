import type { Response as ResponseBody, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { validateResponse, validateResponseStreamEvent } from "@antiphon/contracts/responses-api/validators.js";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import { expect } from "vitest";
import { dataLines } from "../kit/event-stream.ts";
import { checkOfficialStream } from "./official-stream.ts";

export type EventOf<Type extends ResponseStreamEvent["type"]> = Extract<ResponseStreamEvent, { type: Type }>;

/** A complete stream in the reference's dialect. */
export interface ReadStream {
  readonly text: string;
  readonly events: readonly ResponseStreamEvent[];
  /** The response in the last event. */
  readonly final: ResponseBody;
}

/**
 * Reads a stream and checks each event against the contract. A stream read from its start must also follow the grammar,
 * and the official client must read the same response from it.
 */
export async function readStream(reply: Response): Promise<ReadStream> {
  const text = await reply.text();
  expect(reply.status, text).toBe(200);
  const events = dataLines(text).map((line) => eventOf(JSON.parse(line)));
  const final = responseOf(events.at(-1));
  if (events[0]?.sequence_number === 0) {
    expect(lintText(text).flatMap(({ faults, notes }) => [...faults, ...notes])).toEqual([]);
    await checkOfficialStream(text, events, final);
  }
  return { text, events, final };
}

function eventOf(value: unknown): ResponseStreamEvent {
  if (!validateResponseStreamEvent(value)) throw new Error(`not an event of the contract: ${JSON.stringify(value)}`);
  return value;
}

/** The response carried by an event of the whole run. */
export function responseOf(event: ResponseStreamEvent | undefined): ResponseBody {
  if (event === undefined || !("response" in event)) throw new Error(`no response in ${event?.type}`);
  return event.response;
}

/** A reply's JSON, checked as a response of the contract. */
export async function readResponse(reply: Response): Promise<ResponseBody> {
  const body: unknown = await reply.json();
  if (!validateResponse(body)) throw new Error(`not a response: ${JSON.stringify(body)}`);
  return body;
}

/** The events of one type. */
export function eventsOf<Type extends ResponseStreamEvent["type"]>(stream: ReadStream, type: Type): EventOf<Type>[] {
  return stream.events.filter((event): event is EventOf<Type> => event.type === type);
}

/** What two answers to the same request have in common: ids become prefix and counter, times become 0. */
export function withoutRandomParts(body: ResponseBody): unknown {
  const text = JSON.stringify({ ...body, created_at: 0, completed_at: body.completed_at === null ? null : 0 });
  return JSON.parse(
    text
      .replaceAll(/\b([a-z]+)_[0-9a-f]{42}([0-9a-f]{8})\b/g, "$1_$2")
      .replaceAll(/\bcall_[0-9a-f]{24}\b/g, "call_")
      .replaceAll(/"encrypted_content":"[^"]+"/g, '"encrypted_content":"sealed"'),
  );
}
