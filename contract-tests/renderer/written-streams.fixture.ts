import { readResponseStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { type WrittenEnd, type WrittenResponse, writeResponse } from "./written-response.fixture.ts";

interface WireEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** One output item: its events and its final form. */
interface Block {
  readonly events: (outputIndex: number) => readonly WireEvent[];
  readonly item: object;
}

type Status = "completed" | "incomplete";

const DELTA_PAD = 16;

/**
 * Writes a stream in the reference's order: prefix, blocks, terminal event. It follows the documented and recorded wire
 * format of the reference, not the output of our server.
 */
export function writeStream(
  response: WrittenResponse,
  blocks: readonly Block[],
  end: Omit<WrittenEnd, "output">,
): readonly ResponseStreamEvent[] {
  const started = writeResponse(response, null);
  const ended = writeResponse(response, { ...end, output: blocks.map(({ item }) => item) });
  const events: readonly WireEvent[] = [
    { type: "response.created", response: started },
    { type: "response.in_progress", response: started },
    ...blocks.flatMap((block, place) => block.events(place)),
    ...(end.error === undefined ? [] : [{ type: "error", error: { type: end.error.code, ...end.error, param: null } }]),
    { type: `response.${end.status}`, response: ended },
  ];
  return events.map((event, number) => readEvent({ ...event, sequence_number: number }));
}

export interface WrittenCitation {
  /** Number of deltas before it. */
  readonly after: number;
  readonly annotation: object;
}

export function messageBlock(
  id: string,
  deltas: readonly string[],
  { status = "completed", citation }: { readonly status?: Status; readonly citation?: WrittenCitation } = {},
): Block {
  const text = deltas.join("");
  const part = { type: "output_text", annotations: [], logprobs: [], text: "" };
  const donePart = { ...part, text, annotations: citation === undefined ? [] : [citation.annotation] };
  const item = { id, type: "message", status, content: [donePart], role: "assistant" };
  return {
    item,
    events: (index) => {
      const place = { item_id: id, output_index: index, content_index: 0 };
      const cited: WireEvent[] =
        citation === undefined
          ? []
          : [
              {
                type: "response.output_text.annotation.added",
                ...place,
                annotation_index: 0,
                annotation: citation.annotation,
              },
            ];
      const spoken: WireEvent[] = deltas.map((delta) => ({
        type: "response.output_text.delta",
        ...place,
        logprobs: [],
        ...padded(delta),
      }));
      return [
        added(index, { ...item, status: "in_progress", content: [] }),
        { type: "response.content_part.added", ...place, part },
        ...spoken.toSpliced(citation?.after ?? 0, 0, ...cited),
        { type: "response.output_text.done", ...place, text, logprobs: [] },
        { type: "response.content_part.done", ...place, part: donePart },
        done(index, item),
      ];
    },
  };
}

export function refusalBlock(id: string, deltas: readonly string[]): Block {
  const refusal = deltas.join("");
  const item = {
    id,
    type: "message",
    status: "completed",
    content: [{ type: "refusal", refusal }],
    role: "assistant",
  };
  return {
    item,
    events: (index) => {
      const place = { item_id: id, output_index: index, content_index: 0 };
      return [
        added(index, { ...item, status: "in_progress", content: [] }),
        { type: "response.content_part.added", ...place, part: { type: "refusal", refusal: "" } },
        ...deltas.map((delta) => ({ type: "response.refusal.delta", ...place, delta })),
        { type: "response.refusal.done", ...place, refusal },
        { type: "response.content_part.done", ...place, part: { type: "refusal", refusal } },
        done(index, item),
      ];
    },
  };
}

/** Each event has a different ciphertext. */
export function reasoningBlock(id: string, summaries: readonly (readonly string[])[]): Block {
  const item = {
    id,
    type: "reasoning",
    content: [],
    encrypted_content: `${id}-at-the-end`,
    summary: summaries.map((deltas) => ({ type: "summary_text", text: deltas.join("") })),
  };
  return {
    item,
    events: (index) => [
      added(index, { ...item, encrypted_content: `${id}-added`, summary: [] }),
      ...summaries.flatMap((deltas, summaryIndex) => {
        const place = { item_id: id, output_index: index, summary_index: summaryIndex };
        const text = deltas.join("");
        return [
          { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } },
          ...deltas.map((delta) => ({ type: "response.reasoning_summary_text.delta", ...place, ...padded(delta) })),
          { type: "response.reasoning_summary_text.done", ...place, text },
          { type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text } },
        ];
      }),
      done(index, { ...item, encrypted_content: `${id}-done` }),
    ],
  };
}

export function callBlock(id: string, name: string, deltas: readonly string[]): Block {
  const item = {
    id,
    type: "function_call",
    status: "completed",
    arguments: deltas.join(""),
    call_id: `call_${id}`,
    name,
  };
  return {
    item,
    events: (index) => {
      const place = { item_id: id, output_index: index };
      return [
        added(index, { ...item, status: "in_progress", arguments: "" }),
        ...deltas.map((delta) => ({ type: "response.function_call_arguments.delta", ...place, ...padded(delta) })),
        { type: "response.function_call_arguments.done", ...place, arguments: item.arguments },
        done(index, item),
      ];
    },
  };
}

function added(index: number, item: object): WireEvent {
  return { type: "response.output_item.added", output_index: index, item };
}

function done(index: number, item: object): WireEvent {
  return { type: "response.output_item.done", output_index: index, item };
}

/** A delta with padding that hides its length. */
function padded(delta: string): object {
  return { delta, obfuscation: "x".repeat((DELTA_PAD - (delta.length % DELTA_PAD)) % DELTA_PAD) };
}

function readEvent(event: unknown): ResponseStreamEvent {
  if (readResponseStreamEvent(event)) return event;
  throw new Error(`${JSON.stringify(event)} is not an event: ${JSON.stringify(readResponseStreamEvent.errors)}`);
}
