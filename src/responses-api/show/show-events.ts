import type {
  CreateResponseRequest,
  DialectStreamEvent,
  ResponseStreamEvent,
  StreamChannel,
} from "../../../generated/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/ports.ts";
import { usesExtensionItems } from "../input/expand-input.ts";
import { inDialect, isCarried } from "./dialect.ts";
import { obfuscate } from "./obfuscate.ts";

/** How one reader is shown events. */
export interface Showing {
  /** Whether deltas are padded. Background responses, and events that are read again, never are. */
  readonly padded: boolean;
  /** Null: all families. */
  readonly channels: ReadonlySet<StreamChannel> | null;
  /** Whether under the names of the extension dialect. */
  readonly dialect: boolean;
}

type Shown = ResponseStreamEvent | DialectStreamEvent;

/**
 * The events of a run as the one who asked for it is shown them: padded, and in the extension dialect if the request
 * used an extension.
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
  { padded, channels, dialect }: Showing,
): AsyncGenerator<Shown> {
  for await (const batch of batches) {
    for (const { event } of batch) {
      if (channels !== null && !isCarried(event, channels)) continue;
      const shown = padded ? obfuscate(event) : event;
      yield dialect ? inDialect(shown) : shown;
    }
  }
}

/** Events under the reference's names, as they are stored. */
export async function* storedEvents(
  batches: AsyncIterable<readonly RecordedEvent[]>,
): AsyncGenerator<ResponseStreamEvent> {
  for await (const batch of batches) {
    for (const { event } of batch) yield event;
  }
}

/** Whether the reference would refuse this request: then it is served in the extension dialect. */
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
