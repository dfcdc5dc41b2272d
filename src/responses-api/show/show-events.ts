import { randomBytes } from "node:crypto";
import { obfuscatedEventTypes } from "../../../generated/responses-api/events.ts";
import type {
  CreateResponseRequest,
  DialectStreamEvent,
  ResponseStreamEvent,
  StreamChannel,
} from "../../../generated/responses-api/types.ts";
import { jsonOf, rememberJson } from "../../base/json/json-text.ts";
import type { RecordedEvent } from "../../runs/ports.ts";
import { usesExtensionItems } from "../input/expand-input.ts";

/** How events are shown to one reader. */
export interface ShowOptions {
  /** Whether deltas are padded. Never true for background responses and replays. */
  readonly padded: boolean;
  /** The families of events to show; all if null. */
  readonly channels: ReadonlySet<StreamChannel> | null;
  /** Whether events have the names of the extension dialect. */
  readonly dialect: boolean;
}

type Shown = ResponseStreamEvent | DialectStreamEvent;

/**
 * The events of a run as its request wants them shown: padded, and in the extension dialect if it used an extension.
 */
export function showEvents(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  request: CreateResponseRequest,
): AsyncGenerator<Shown> {
  const options = request.stream_options;
  return shownEvents(batches, {
    padded: request.background !== true && (options?.include_obfuscation ?? options?.obfuscation) !== false,
    channels: options?.channels == null ? null : new Set(options.channels),
    dialect: usesExtension(request),
  });
}

export async function* shownEvents(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  { padded, channels, dialect }: ShowOptions,
): AsyncGenerator<Shown> {
  for await (const batch of batches) {
    for (const recorded of batch) {
      const event = rememberJson(recorded.event, recorded.json);
      if (channels !== null && !isCarried(event, channels)) continue;
      const shown = padded ? obfuscate(event) : event;
      yield dialect ? inDialect(shown) : shown;
    }
  }
}

/** The stored events, with the reference's names. */
export async function* storedEvents(
  batches: AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<ResponseStreamEvent> {
  for await (const batch of batches) {
    for (const { event, json } of batch) yield rememberJson(event, json);
  }
}

/**
 * Whether the request uses an extension, which the reference would refuse. Such a request is served in the extension
 * dialect.
 */
export function usesExtension(request: CreateResponseRequest): boolean {
  const options = request.stream_options;
  return (
    options?.channels != null ||
    options?.obfuscation != null ||
    request.output_audio != null ||
    request.reasoning?.enable_chain_of_thought != null ||
    Array.isArray(request.instructions) ||
    Array.isArray(request.conversation) ||
    (request.input != null && usesExtensionItems(request.input))
  );
}

/**
 * Renames one event into the extension dialect. Number, ids and payload stay; the reference's nested `error` becomes a
 * flat `response.error`. Events without a name in the dialect stay as they are.
 */
function inDialect(event: ResponseStreamEvent): DialectStreamEvent {
  switch (event.type) {
    case "response.function_call_arguments.delta":
    case "response.mcp_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      return renamed(event, { ...event, type: "response.tool_call.delta" });
    case "response.function_call_arguments.done":
    case "response.mcp_call_arguments.done":
    case "response.custom_tool_call_input.done":
      return renamed(event, { ...event, type: "response.tool_call.done" });
    case "response.audio.delta":
      return renamed(event, { ...event, type: "response.output_audio.delta" });
    case "response.audio.done":
      return renamed(event, { ...event, type: "response.output_audio.done" });
    case "error": {
      const { error, ...rest } = event;
      return { ...rest, type: "response.error", code: error.code, message: error.message, param: error.param };
    }
    default:
      return event;
  }
}

/** Reuses the JSON of the event, because only its type differs. */
function renamed<T extends DialectStreamEvent>(event: ResponseStreamEvent, dialect: T): T {
  return rememberJson(dialect, jsonOf(event).replace(`"type":"${event.type}"`, `"type":"${dialect.type}"`));
}

/** Whether a stream with only these channels shows the event. Events of no family are always shown. */
function isCarried(event: ResponseStreamEvent, channels: ReadonlySet<StreamChannel>): boolean {
  const channel = channelOf(event.type);
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
  const known = channelsByType.get(type);
  if (known !== undefined) return known;
  const channel = FAMILIES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  channelsByType.set(type, channel);
  return channel;
}

/** Deltas are padded to a multiple of this many characters, so that their sizes reveal less to an eavesdropper. */
const PADDED_TO_CHARACTERS = 16;

const obfuscated: ReadonlySet<string> = new Set(obfuscatedEventTypes);

/** Adds the reference's padding to a delta event; other events stay as they are. */
function obfuscate(event: ResponseStreamEvent): ResponseStreamEvent {
  if (!("delta" in event) || typeof event.delta !== "string" || !obfuscated.has(event.type)) return event;
  const padding = filler(paddingLength(event.delta));
  return rememberJson({ ...event, obfuscation: padding }, `${jsonOf(event).slice(0, -1)},"obfuscation":"${padding}"}`);
}

/** (16 − length mod 16) mod 16, the length in characters. */
function paddingLength(delta: string): number {
  return (PADDED_TO_CHARACTERS - (characters(delta) % PADDED_TO_CHARACTERS)) % PADDED_TO_CHARACTERS;
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
    pool = randomBytes(POOL_BYTES).toString("base64url").replaceAll(/[-_]/g, "x");
    used = 0;
  }
  used += length;
  return pool.slice(used - length, used);
}
