import type {
  CreateResponseRequest,
  DialectStreamEvent,
  ResponseStreamEvent,
} from "../../generated/responses-api/types.ts";
import type { RecordedEvent } from "../runs/ports.ts";
import { inDialect, isCarried } from "./dialect.ts";
import { usesExtensionItems } from "./expand-input.ts";
import { obfuscate } from "./obfuscate.ts";

/** The events of a run as the one who asked for it is shown them: padded, and in the extension dialect if the request used an extension. */
export async function* showEvents(
  batches: AsyncIterable<readonly RecordedEvent[]>,
  request: CreateResponseRequest,
): AsyncGenerator<ResponseStreamEvent | DialectStreamEvent> {
  const options = request.stream_options;
  const padded = (options?.include_obfuscation ?? options?.obfuscation) !== false;
  const channels = options?.channels == null ? null : new Set(options.channels);
  const dialect = usesExtension(request);
  for await (const batch of batches) {
    for (const { event } of batch) {
      if (channels !== null && !isCarried(event, channels)) continue;
      const shown = padded ? obfuscate(event) : event;
      yield dialect ? inDialect(shown) : shown;
    }
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
