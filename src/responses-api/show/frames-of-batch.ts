import { FRAME_END, frameOf, frameStart } from "../../base/event-frames.ts";
import type { DeltaTemplate, RecordedDelta, RecordedEvent } from "../../runs/recorded-event.ts";
import { paddingOf } from "./padding.ts";
import { isPadded, renamedJson, type ShowOptions, shownJson, shownType } from "./shown-event.ts";

/** A text has at least this many characters if more follows, so that a long batch is not one long text. */
const TEXT_CHARACTERS = 32 * 1024;

/** The server-sent frames of events for one reader: one text, or several if they are long. */
export function* framesOf(batch: readonly RecordedEvent[], options: ShowOptions): Generator<string, void> {
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

/** Writes the frames of deltas that share a template: everything but texts, numbers and padding is created once. */
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
