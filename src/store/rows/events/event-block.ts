import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { WaitingEvent } from "../../../runs/ports/packed-deltas.ts";
import { DeltaTemplate, RecordedDelta, type RecordedEvent, RecordedWhole } from "../../../runs/recorded-event.ts";
import { storedJson } from "../../database/stored-json.ts";
import { RESPONSE_LINE, ResponseLines, readResponseLine } from "./response-line.ts";

/** A block is full with this many events, */
const BLOCK_EVENTS = 256;
/** or this many characters. It includes the event that reaches the limit, whatever its size. */
const BLOCK_CHARACTERS = 64 * 1024;

/**
 * Consecutive events of one run, as plain data for a thread. They are stored as lines: an event as its JSON, deltas
 * with one template together as `["~", number of the first, before, after, text, text, …]`, and events with a response
 * that is stored beside them as in `response-line.ts`.
 */
export interface EventBlock {
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** For deltas: `before` and `after` of their template, as elements of a JSON list. Null for lines. */
  readonly template: string | null;
  /** The lines, or the texts of the deltas as elements of a JSON list. */
  readonly text: string;
}

/** A line with the JSON of one event begins with `{`. */
const PACKED = '["~",';

type PackedLine = readonly [mark: string, firstNumber: number, before: string, after: string, ...texts: string[]];

/** Packs consecutive events. `stored`: a response that is permanently stored beside them. Pure function. */
export function packEvents(
  events: readonly WaitingEvent[],
  storedResponse: Response | null = null,
): readonly EventBlock[] {
  const blocks: EventBlock[] = [];
  const lines = storedResponse === null ? null : new ResponseLines(storedResponse);
  for (let start = 0; start < events.length; ) {
    const { block, end } = blockAt(events, start, lines);
    blocks.push(block);
    start = end;
  }
  return blocks;
}

/** The block that begins at `start`, and the start of the next one. */
function blockAt(events: readonly WaitingEvent[], start: number, lines: ResponseLines | null) {
  const firstNumber = events[start]?.number ?? 0;
  const template = events[start]?.template ?? null;
  const parts: string[] = [];
  let length = 0;
  let count = 0;
  let end = start;
  for (; end < events.length && count < BLOCK_EVENTS && length < BLOCK_CHARACTERS; end++) {
    const event = events[end];
    if (event === undefined || event.template !== template || event.number !== firstNumber + count) break;
    if (count > 0 && count + event.count > BLOCK_EVENTS) break;
    const part = event.template === null ? (lines?.lineOf(event.event) ?? event.json) : event.textJson;
    parts.push(part);
    length += part.length + 1;
    count += event.count;
  }
  // `join` copies. `+=` would build a tree of two nodes per event until the commit.
  const text = parts.join(separatorIn(template));
  const block = { firstNumber, lastNumber: firstNumber + count - 1, template: template?.asElements ?? null, text };
  return { block, end };
}

export function countOf({ firstNumber, lastNumber }: EventBlock): number {
  return lastNumber + 1 - firstNumber;
}

/** The characters of blocks, without their templates. */
export function lengthOfBlocks(blocks: readonly EventBlock[]): number {
  return blocks.reduce((length, { text }) => length + text.length, 0);
}

/** Appends a block. Neighbours with one template become one block. */
export function joinBlock(blocks: readonly EventBlock[], next: EventBlock): readonly EventBlock[] {
  const last = blocks.at(-1);
  if (last === undefined || last.template !== next.template) return [...blocks, next];
  const text = `${last.text}${separatorIn(last.template)}${next.text}`;
  return [...blocks.slice(0, -1), { ...last, lastNumber: next.lastNumber, text }];
}

/** JSON has no line breaks outside its texts, so they can separate lines. */
function separatorIn(template: unknown): string {
  return template === null ? "\n" : ",";
}

/** The lines to store. */
export function linesOf(blocks: readonly EventBlock[]): string {
  return blocks
    .map(({ firstNumber, template, text }) =>
      template === null ? text : `${PACKED}${firstNumber},${template},${text}]`,
    )
    .join("\n");
}

/**
 * The events of stored lines with a number above `after`. `firstNumber`: the number of the first line; `body`: the JSON
 * of the stored response.
 */
export function readEventLines(
  lines: string,
  firstNumber: number,
  after: number,
  body: string,
): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  let number = firstNumber;
  for (const line of lines.split("\n")) {
    if (line.startsWith(PACKED)) {
      number = unpack(line, after, events);
    } else {
      if (number > after)
        events.push(
          line.startsWith(RESPONSE_LINE) ? readResponseLine(line, body) : RecordedWhole.fromJson(number, line),
        );
      number += 1;
    }
  }
  return events;
}

/** Adds the events of a packed line. Returns the number that follows them. */
function unpack(line: string, after: number, events: RecordedEvent[]): number {
  const [, firstNumber, before, end, ...texts] = storedJson<PackedLine>(line);
  const template = new DeltaTemplate(before, end);
  for (let index = Math.max(0, after + 1 - firstNumber); index < texts.length; index++)
    events.push(new RecordedDelta(firstNumber + index, template, texts[index] ?? ""));
  return firstNumber + texts.length;
}
