import type {
  CreateResponseRequest,
  DialectStreamEvent,
  ResponseStreamEvent,
} from "../../../generated/responses-api/types.ts";
import { EventFrames } from "../../base/event-frames.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { usesExtensionItems } from "../input/expand-input.ts";
import { framesOf } from "./frames-of-batch.ts";
import type { ShowOptions } from "./shown-event.ts";

/** The events of a run, written for one reader. */
export type ShownEvents = EventFrames<ResponseStreamEvent | DialectStreamEvent>;

/** The form of events for this request: padded, and in the extension dialect if it used an extension. */
export function showOptionsOf(request: CreateResponseRequest): ShowOptions {
  const options = request.stream_options;
  return {
    padded: request.background !== true && (options?.include_obfuscation ?? options?.obfuscation) !== false,
    channels: options?.channels == null ? null : new Set(options.channels),
    dialect: usesExtension(request),
  };
}

export function shownEvents(batches: AsyncIterable<readonly RecordedEvent[]>, options: ShowOptions): ShownEvents {
  return new EventFrames(shownFrames(batches, options));
}

/** The frames of each batch together. */
export async function* shownFrames(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  options: ShowOptions,
): AsyncGenerator<string, void> {
  for await (const batch of batches) {
    for (const frames of framesOf(batch, options)) yield frames; // `yield*` would wait several times for each.
  }
}

const AS_STORED: ShowOptions = { padded: false, channels: null, dialect: false };

/** The stored events, with the reference's names. */
export function storedEvents(batches: AsyncIterable<readonly RecordedEvent[]>): EventFrames<ResponseStreamEvent> {
  return new EventFrames(shownFrames(batches, AS_STORED));
}

/**
 * Whether the request uses an extension that the reference would refuse and that selects the extension dialect.
 * `interruption` does not select it, because clients of the reference set it, too.
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
