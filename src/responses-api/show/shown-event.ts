import { randomBytes } from "node:crypto";
import { assert } from "@antiphon/base/assert.ts";
import { dialectEventTypes, obfuscatedEventTypes } from "@antiphon/contracts/responses-api/events.ts";
import type { ResponseStreamEvent, StreamChannel } from "@antiphon/contracts/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";

/** The form of events for one reader. */
export interface ShowOptions {
  /** Whether deltas are padded. Never true for background responses and replays. */
  readonly padded: boolean;
  /** The families of events to show; all if null. */
  readonly channels: ReadonlySet<StreamChannel> | null;
  /** Whether events have the names of the extension dialect. */
  readonly dialect: boolean;
  /** Whether each frame has a line `id: <sequence_number>`, for Last-Event-ID. Default: no. */
  readonly withIds?: boolean;
}

/** The shown type of an event; null if the reader does not want it. */
export function shownType(type: string, { channels, dialect }: ShowOptions): string | null {
  if (channels !== null && !isCarried(type, channels)) return null;
  return dialect ? (namesInDialect.get(type) ?? type) : type;
}

const obfuscatedTypes: ReadonlySet<string> = new Set(obfuscatedEventTypes);

/** Whether events of the type are shown with the reference's padding. */
export function isPadded(type: string, { padded }: ShowOptions): boolean {
  return padded && obfuscatedTypes.has(type);
}

/** The JSON of an event with its shown type. */
export function shownJson(event: RecordedEvent, type: string, options: ShowOptions): string {
  const json = isPadded(event.type, options) ? paddedJson(event) : event.json;
  if (type === event.type) return json;
  return event.type === "error" ? flatError(event.event) : renamedJson(json, event.type, type);
}

function paddedJson(event: RecordedEvent): string {
  const padding = paddingOf(event.template === null ? deltaOf(event.event) : event.text);
  return `${event.openJson},"obfuscation":"${padding}"}`;
}

function deltaOf(event: ResponseStreamEvent): string {
  return "delta" in event && typeof event.delta === "string" ? event.delta : "";
}

const namesInDialect: ReadonlyMap<string, string> = new Map(Object.entries(dialectEventTypes));

/** The JSON, or its beginning, with another type. */
export function renamedJson(json: string, type: string, newType: string): string {
  return type === newType ? json : json.replace(`"type":"${type}"`, `"type":"${newType}"`);
}

/** In the extension dialect, the reference's nested `error` is a flat `response.error`. */
function flatError(event: ResponseStreamEvent): string {
  assert(event.type === "error", "only errors are shown flat");
  const { error, ...rest } = event;
  const type = dialectEventTypes.error;
  return JSON.stringify({ ...rest, type, code: error.code, message: error.message, param: error.param });
}

/** Whether a stream with only these channels shows events of the type. Events of no family are always shown. */
function isCarried(type: string, channels: ReadonlySet<StreamChannel>): boolean {
  const channel = channelOf(type);
  return channel === null || channels.has(channel);
}

const FAMILIES: readonly (readonly [RegExp, StreamChannel])[] = [
  [/^response\.output_text\.(delta|done|annotation\.added)$/, "output_text"],
  [/^response\.audio\./, "output_audio"],
  [/^response\.(function_call_arguments|mcp_call_arguments|custom_tool_call_input)\./, "tool_call"],
  [/^response\.refusal\./, "refusal"],
  [/^response\.reasoning_(text|summary_text)\./, "reasoning"],
];

const channelsByType = new Map<string, StreamChannel | null>();

function channelOf(type: string): StreamChannel | null {
  const match = channelsByType.get(type);
  if (match !== undefined) return match;
  const channel = FAMILIES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  channelsByType.set(type, channel);
  return channel;
}

/** Deltas are padded to a multiple of this many characters, so that their sizes reveal less to an eavesdropper. */
const PADDED_TO_CHARACTERS = 16;

/** The reference's padding of a delta: (16 − length mod 16) mod 16 characters, the length in characters. */
export function paddingOf(delta: string): string {
  return filler((PADDED_TO_CHARACTERS - (characters(delta) % PADDED_TO_CHARACTERS)) % PADDED_TO_CHARACTERS);
}

function characters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) count -= 1; // A surrogate pair is one character.
  }
  return count;
}

/** The size of a pool of random text for padding. The pool is renewed when it is used up. */
const POOL_BYTES = 12 * 1024;
let pool = "";
let used = 0;

function filler(length: number): string {
  if (used + length > pool.length) {
    pool = randomBytes(POOL_BYTES).toString("hex");
    used = 0;
  }
  used += length;
  return pool.slice(used - length, used);
}
