import { EventFrames, FRAME_END, frameOf, frameStart } from "@antiphon/base/event-frames.ts";
import type {
  CreateResponseRequest,
  DialectStreamEvent,
  ResponseStreamEvent,
} from "@antiphon/contracts/responses-api/types.ts";
import type { DeltaTemplate, RecordedDelta, RecordedEvent } from "../../runs/recorded-event.ts";
import { usesExtensionItems } from "../input/expand-input.ts";
import { isPadded, paddingOf, renamedJson, type ShowOptions, shownJson, shownType } from "./shown-event.ts";

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

/** A text has at least this many characters if more follows, so that a long batch is not one long text. */
const TEXT_CHARACTERS = 32 * 1024;

/** The server-sent frames of events, as one reader sees them: one text, or several if they are long. */
function* framesOf(batch: readonly RecordedEvent[], options: ShowOptions): Generator<string, void> {
  let frames = "";
  let deltas: DeltaFrames | null = null;
  for (const event of batch) {
    if (event.template === null) {
      const type = shownType(event.type, options);
      if (type !== null) frames += frameOf(type, shownJson(event, type, options), idOf(event, options));
    } else {
      if (deltas?.template !== event.template) deltas = new DeltaFrames(event.template, options);
      frames += deltas.frameOf(event, idOf(event, options));
    }
    if (frames.length >= TEXT_CHARACTERS) {
      yield frames;
      frames = "";
    }
  }
  if (frames !== "") yield frames;
}

function idOf({ number }: RecordedEvent, { withIds }: ShowOptions): number | null {
  return withIds === true ? number : null;
}

/** Writes the frames of deltas that share a template: all but their texts, numbers and padding is made once. */
class DeltaFrames {
  readonly template: DeltaTemplate;
  /** Null if the reader does not want these deltas. */
  readonly #type: string | null;
  /** The JSON before the text of the delta. */
  readonly #json: string;
  /** The frame before the text of a delta without an id. */
  readonly #before: string;
  readonly #isPadded: boolean;

  constructor(template: DeltaTemplate, options: ShowOptions) {
    this.template = template;
    this.#type = shownType(template.type, options);
    this.#json = this.#type === null ? "" : renamedJson(template.before, template.type, this.#type);
    this.#before = this.#type === null ? "" : `${frameStart(this.#type)}${this.#json}`;
    this.#isPadded = isPadded(template.type, options);
  }

  frameOf({ textJson, text, number }: RecordedDelta, id: number | null): string {
    if (this.#type === null) return "";
    const before = id === null ? this.#before : `${frameStart(this.#type, id)}${this.#json}`;
    const { after } = this.template;
    if (!this.#isPadded) return `${before}${textJson}${after}${number}}${FRAME_END}`;
    return `${before}${textJson}${after}${number},"obfuscation":"${paddingOf(text)}"}${FRAME_END}`;
  }
}
