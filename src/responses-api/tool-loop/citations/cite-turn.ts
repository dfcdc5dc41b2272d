import type { CitedFile } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { RunLost } from "../../../runs/ports/store-faults.ts";
import { CitedText } from "./cited-text.ts";
import type { Sources } from "./sources.ts";

type Batch = readonly ModelEvent[];

/** Sent to models whose tools return citable results. */
export const CITATION_NOTE =
  "Results of tools carry numbers such as [web:3] or [file:2]. Directly behind each sentence that rests on a result write its number as 【web:3】 or 【file:2】. Never invent a number, and write no addresses of pages.";

/**
 * Replaces the markers in a turn's texts by citations: a web marker by a Markdown link with its annotation, a file
 * marker by an annotation alone. Markers of unknown numbers are removed, together with the blanks before them. Labels
 * such as `[file:1]` are markers once the model has results. Links that the model itself wrote to known pages are
 * annotated too. Links to files of a container, and pictures shown by tools before the text, are annotated at its end.
 * If `isData`, the text is JSON: markers are only removed and links are left alone. Indexes count code points.
 */
export async function* citeTurn(
  turn: AsyncIterable<Batch>,
  sources: Sources,
  isData: boolean,
): AsyncGenerator<Batch, void> {
  const citedTurn = new CitedTurn(sources, isData);
  try {
    for await (const batch of turn) {
      const output: ModelEvent[] = [];
      for (const event of batch) output.push(...citedTurn.add(event));
      if (output.length > 0) yield output;
    }
  } catch (fault) {
    // A worker that continues a lost run requests the rest after the shown text.
    const rest = fault instanceof RunLost ? [] : citedTurn.rest();
    if (rest.length > 0) yield rest;
    throw fault;
  }
  const rest = citedTurn.rest(); // A stopped run ends without an event.
  if (rest.length > 0) yield rest;
}

/** The texts of a turn, one after the other. */
class CitedTurn {
  readonly #sources: Sources;
  readonly #isData: boolean;
  #text: CitedText;
  /** Shown since the last text. */
  #pictures: readonly CitedFile[] = [];

  constructor(sources: Sources, isData: boolean) {
    this.#sources = sources;
    this.#isData = isData;
    this.#text = new CitedText(sources, isData);
  }

  add(event: ModelEvent): Batch {
    if (event.type === "text_delta") return this.#text.add(event);
    if (event.type === "item_finished")
      this.#pictures = [...this.#pictures, ...this.#sources.takePictures(event.item.id ?? "")];
    if (!endsText(event)) return [event];
    const textEvents = this.#text.end(this.#pictures);
    if (textEvents.length > 0) this.#pictures = [];
    this.#text = new CitedText(this.#sources, this.#isData);
    return [...textEvents, event];
  }

  /** The rest of a text that no event ends. */
  rest(): Batch {
    return this.#text.end([]);
  }
}

/** Whether text after this event belongs to another part. */
function endsText({ type }: ModelEvent): boolean {
  return ![
    "annotation",
    "model_resolved",
    "tool_usage",
    "audio_delta",
    "audio_transcript_delta",
    "audio_done",
  ].includes(type);
}
