import { FRAME_END, frameOf, frameStart, idLine } from "../../base/event-frames.ts";
import type { DeltaTemplate, RecordedDelta, RecordedEvent } from "../../runs/ports.ts";
import { paddingOf } from "./padding.ts";
import { isPadded, renamedJson, type ShowOptions, shownJson, shownType } from "./shown-event.ts";

/** A text has at least this many characters if more follows, so that a long batch is not one long text. */
const TEXT_CHARACTERS = 32 * 1024;

/** The server-sent frames of events, as one reader sees them: one text, or several if they are long. */
export function* framesOf(batch: readonly RecordedEvent[], options: ShowOptions): Generator<string, void> {
  let frames = "";
  let deltas: DeltaFrames | null = null;
  for (const event of batch) {
    if (event.template === null) {
      const type = shownType(event.type, options);
      if (type !== null) frames += idOf(event, options) + frameOf(type, shownJson(event, type, options));
    } else {
      if (deltas?.template !== event.template) deltas = new DeltaFrames(event.template, options);
      const frame = deltas.frameOf(event);
      if (frame !== "") frames += idOf(event, options) + frame;
    }
    if (frames.length >= TEXT_CHARACTERS) {
      yield frames;
      frames = "";
    }
  }
  if (frames !== "") yield frames;
}

function idOf({ number }: RecordedEvent, { withIds }: ShowOptions): string {
  return withIds === true ? idLine(number) : "";
}

/** Writes the frames of deltas that share a template: all but their texts, numbers and padding is made once. */
class DeltaFrames {
  readonly template: DeltaTemplate;
  /** The text before that of the delta; null if the reader does not want these deltas. */
  readonly #before: string | null;
  readonly #isPadded: boolean;

  constructor(template: DeltaTemplate, options: ShowOptions) {
    const type = shownType(template.type, options);
    this.template = template;
    this.#before = type === null ? null : `${frameStart(type)}${renamedJson(template.before, template.type, type)}`;
    this.#isPadded = isPadded(template.type, options);
  }

  frameOf({ textJson, text, number }: RecordedDelta): string {
    if (this.#before === null) return "";
    const { after } = this.template;
    if (!this.#isPadded) return `${this.#before}${textJson}${after}${number}}${FRAME_END}`;
    return `${this.#before}${textJson}${after}${number},"obfuscation":"${paddingOf(text)}"}${FRAME_END}`;
  }
}
