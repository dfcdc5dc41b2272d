import { rememberedJson, rememberJson } from "@antiphon/base/json/json-text.ts";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { rememberInSlices, writeJson } from "@antiphon/base/json/write-json.ts";
import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import type { UnnumberedEvent } from "./wire-event.ts";

/**
 * A numbered event of a run. Storage and readers use its JSON; the object is created only on demand. `template` is set
 * if only a text and the number distinguish the event from its neighbours.
 */
export type RecordedEvent = RecordedWhole | RecordedDelta;

const LAST_TYPES: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Whether this is the last event. */
export function endsRun({ type }: RecordedEvent): boolean {
  return LAST_TYPES.has(type);
}

/** The memory of an event besides its text, in characters. */
const EVENT_OVERHEAD = 96;

/** An event that is stored and sent as its own JSON. */
export class RecordedWhole {
  readonly number: number;
  readonly template = null;
  #event: ResponseStreamEvent | null;
  #json: string | null;

  private constructor(number: number, event: ResponseStreamEvent | null, json: string | null) {
    this.number = number;
    this.#event = event;
    this.#json = json;
  }

  /** The event must not change afterwards. */
  static of(event: ResponseStreamEvent): RecordedWhole {
    return new RecordedWhole(event.sequence_number, event, null);
  }

  static fromJson(number: number, json: string): RecordedWhole {
    return new RecordedWhole(number, null, json);
  }

  get count(): number {
    return 1;
  }

  get type(): string {
    return this.#event?.type ?? typeIn(this.json) ?? this.event.type;
  }

  /** Compact JSON with `sequence_number` and without `obfuscation`. */
  get json(): string {
    this.#json ??= jsonOfEvent(this.event);
    return this.#json;
  }

  /** Creates the JSON now. Long JSON takes several turns of the event loop. */
  async makeJson(): Promise<void> {
    if (this.#json !== null || this.#event === null) return;
    if ("response" in this.#event) await rememberInSlices(this.#event.response);
    else this.#json = await writeJson(this.#event);
  }

  /** The JSON without its last brace, so that a member can be appended. */
  get openJson(): string {
    return this.json.slice(0, -1);
  }

  get event(): ResponseStreamEvent {
    this.#event ??= rememberJson(readOwnJson<ResponseStreamEvent>(this.json), this.json);
    return this.#event;
  }

  /** The approximate size in memory, in characters. */
  get size(): number {
    return this.json.length + EVENT_OVERHEAD;
  }
}

/** The JSON of an event. Reuses remembered JSON of its response. */
function jsonOfEvent(event: ResponseStreamEvent): string {
  const response = "response" in event ? rememberedJson(event.response) : null;
  if (response === null) return JSON.stringify(event);
  return `{"type":"${event.type}","response":${response},"sequence_number":${event.sequence_number}}`;
}

/** The next piece of one part of an item. */
export class RecordedDelta {
  readonly number: number;
  readonly template: DeltaTemplate;
  readonly text: string;
  #textJson: string | null = null;

  constructor(number: number, template: DeltaTemplate, text: string) {
    this.number = number;
    this.template = template;
    this.text = text;
  }

  get count(): number {
    return 1;
  }

  get type(): string {
    return this.template.type;
  }

  /** The text as JSON, with its quotes. */
  get textJson(): string {
    this.#textJson ??= JSON.stringify(this.text);
    return this.#textJson;
  }

  /** Compact JSON with `sequence_number` and without `obfuscation`. */
  get json(): string {
    return `${this.openJson}}`;
  }

  /** The JSON without its last brace, so that a member can be appended. */
  get openJson(): string {
    return `${this.template.before}${this.textJson}${this.template.after}${this.number}`;
  }

  get event(): ResponseStreamEvent {
    return this.template.eventOf(this.text, this.number);
  }

  /** The approximate size in memory, in characters. The template is shared. */
  get size(): number {
    return this.text.length + EVENT_OVERHEAD;
  }
}

/** An event that adds a text. */
type TextDelta<Event> = Extract<Event, { readonly delta: string }>;

/**
 * The common parts of the deltas of one part of an item. The JSON of such an event is `before`, its text as JSON,
 * `after`, its number and `}`.
 */
export class DeltaTemplate {
  readonly before: string;
  readonly after: string;
  /** `before` and `after` as two elements of a JSON list. */
  readonly asElements: string;
  #sample: TextDelta<ResponseStreamEvent> | null = null;
  #type: string | null = null;

  constructor(before: string, after: string) {
    this.before = before;
    this.after = after;
    this.asElements = `${JSON.stringify(before)},${JSON.stringify(after)}`;
  }

  /** The template of a delta and of all deltas that differ only in their text. */
  static of(event: TextDelta<UnnumberedEvent>): DeltaTemplate {
    const json = JSON.stringify({ ...event, delta: "", sequence_number: 0 });
    const at = json.indexOf(EMPTY_DELTA); // Quotes within a text would be escaped.
    return new DeltaTemplate(
      json.slice(0, at + EMPTY_DELTA.length - EMPTY_TEXT.length),
      json.slice(at + EMPTY_DELTA.length, -NUMBER_AND_END.length),
    );
  }

  get type(): string {
    this.#type ??= typeIn(this.before) ?? this.#event.type;
    return this.#type;
  }

  eventOf(delta: string, number: number): ResponseStreamEvent {
    return { ...this.#event, delta, sequence_number: number };
  }

  get #event(): TextDelta<ResponseStreamEvent> {
    this.#sample ??= readOwnJson<TextDelta<ResponseStreamEvent>>(
      `${this.before}${EMPTY_TEXT}${this.after}${NUMBER_AND_END}`,
    );
    return this.#sample;
  }
}

const EMPTY_TEXT = '""';
const EMPTY_DELTA = `"delta":${EMPTY_TEXT}`;
const NUMBER_AND_END = "0}";

const TYPE_FIRST = '{"type":"';

/** The type of an event whose JSON begins with `type`, as in all events of this server. */
function typeIn(json: string): string | null {
  if (!json.startsWith(TYPE_FIRST)) return null;
  return json.slice(TYPE_FIRST.length, json.indexOf('"', TYPE_FIRST.length));
}
