import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { type DeltaTemplate, RecordedDelta, type RecordedEvent } from "../recorded-event.ts";

/** With fewer, deltas stay objects. */
const DELTAS_MIN = 4;
/** A lot is full once it has this many deltas, */
const LOT_DELTAS = 256;
/** or this many characters. The delta that reaches the limit still goes in. */
const LOT_CHARACTERS = 16 * 1024;

/** Consecutive deltas of one template. Waiting deltas take a tenth of the memory of objects. */
export class PackedDeltas {
  /** The number of the first delta. */
  readonly number: number;
  readonly count: number;
  readonly template: DeltaTemplate;
  /** The texts as JSON, separated by commas. */
  readonly textJson: string;
  /** The approximate size in memory, in characters, once they are objects again. */
  readonly size: number;

  constructor(deltas: readonly RecordedDelta[], first: RecordedDelta) {
    this.number = first.number;
    this.count = deltas.length;
    this.template = first.template;
    this.textJson = JSON.stringify(deltas.map(({ text }) => text)).slice(1, -1);
    this.size = deltas.reduce((sum, { size }) => sum + size, 0);
  }

  unpack(): readonly RecordedDelta[] {
    const texts = readOwnJson<readonly string[]>(`[${this.textJson}]`);
    return texts.map((text, index) => new RecordedDelta(this.number + index, this.template, text));
  }
}

/** Events that wait to be stored or read. */
export type WaitingEvent = RecordedEvent | PackedDeltas;

/** Packs consecutive deltas among the events. */
export function packDeltas(events: readonly WaitingEvent[]): readonly WaitingEvent[] {
  if (events.length < DELTAS_MIN) return events;
  const result: WaitingEvent[] = [];
  let deltas: RecordedDelta[] = [];
  let characters = 0;
  const endLot = (): void => {
    const [first] = deltas;
    if (first === undefined || deltas.length < DELTAS_MIN) result.push(...deltas);
    else result.push(new PackedDeltas(deltas, first));
    deltas = [];
    characters = 0;
  };
  for (const event of events) {
    const isFull = deltas.length === LOT_DELTAS || characters >= LOT_CHARACTERS;
    if (isFull || event.template !== deltas[0]?.template) endLot();
    if (event instanceof RecordedDelta) {
      deltas.push(event);
      characters += event.text.length;
    } else {
      result.push(event);
    }
  }
  endLot();
  return result;
}

export function unpackDeltas(events: readonly WaitingEvent[]): readonly RecordedEvent[] {
  return events.flatMap((event): RecordedEvent | readonly RecordedEvent[] =>
    event instanceof PackedDeltas ? event.unpack() : event,
  );
}
