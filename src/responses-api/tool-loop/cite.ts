import type { Annotation } from "../../../generated/responses-api/types.ts";
import type { ModelEvent } from "../../runs/ports.ts";
import type { Citable, CitedFile } from "../hosted-tool.ts";

type Batch = readonly ModelEvent[];
type TextDelta = Extract<ModelEvent, { type: "text_delta" }>;

/** Told to models whose tools return things that can be cited. */
export const CITATION_NOTE =
  "Results of tools carry numbers such as [web:3] or [file:2]. Directly behind each sentence that rests on a result write its number as 【web:3】 or 【file:2】. Never invent a number, and write no addresses of pages.";

/** What stands between 【 and 】 in characters, at most; more is no marker. */
const MARKER_CHARACTERS_MAX = 80;
/** How far before its end the beginning of a Markdown link is looked for, in characters. */
const LINK_CHARACTERS_MAX = 4096;

const MARKER = /^【\s*((?:web|file):\d+(?:\s*[,;]\s*(?:web|file):\d+)*)\s*(?:†[^】]*)?】$/;
const MARKER_BEGIN = /^【\s*(?:web|file):/;
/** Links to files of a container begin so. */
const SANDBOX = "sandbox:";

type Numbered = Exclude<Citable, CitedFile>;

/** What a response may cite. The tool loop adds to it while the response is made. */
export class Sources {
  readonly #byNumber = new Map<string, Numbered>();
  readonly #byUrl = new Map<string, Extract<Citable, { type: "web" }>>();
  readonly #byPath = new Map<string, CitedFile>();
  /** Pictures that no text has cited yet, by the item that shows them. */
  readonly #pictures = new Map<string, CitedFile[]>();

  add(sources: readonly Citable[]): void {
    for (const source of sources) {
      if (source.type === "container_file") {
        this.#addFile(source);
        continue;
      }
      this.#byNumber.set(`${source.type}:${source.number}`, source);
      if (source.type === "web") this.#byUrl.set(source.url, source);
    }
  }

  #addFile(file: CitedFile): void {
    this.#byPath.set(file.path, file);
    if (file.shownBy === null) return;
    this.#pictures.set(file.shownBy, [...(this.#pictures.get(file.shownBy) ?? []), file]);
  }

  /** By an address such as `sandbox:/mnt/data/chart.png`, in which signs may be escaped. */
  findFile(address: string): CitedFile | undefined {
    const path = address.slice(SANDBOX.length);
    return this.#byPath.get(path) ?? this.#byPath.get(unescaped(path));
  }

  /** The pictures that the item has shown; none when they are asked for again. */
  takePictures(itemId: string): readonly CitedFile[] {
    const pictures = this.#pictures.get(itemId) ?? [];
    this.#pictures.delete(itemId);
    return pictures;
  }

  /** By the text of a marker, such as `web:3`. */
  find(marker: string): Numbered | undefined {
    return this.#byNumber.get(marker);
  }

  findUrl(url: string) {
    return this.#byUrl.get(url) ?? this.#byUrl.get(url.endsWith("/") ? url.slice(0, -1) : `${url}/`);
  }
}

/**
 * Replaces the markers in a turn's texts by citations: a web marker by a Markdown link with its annotation, a file
 * marker by an annotation alone. Markers of unknown numbers vanish. Links to known pages that the model wrote itself
 * are annotated too. Links to files of a container, and the pictures that tools have shown before the text, are
 * annotated at its end. If `isData`, the text is JSON: markers are only removed and links are left alone. Indexes count
 * code points.
 */
export async function* citeTurn(
  turn: AsyncIterable<Batch>,
  sources: Sources,
  isData: boolean,
): AsyncGenerator<Batch, void> {
  let text = new CitedText(sources, isData);
  let pictures: readonly CitedFile[] = [];
  for await (const batch of turn) {
    const shown: ModelEvent[] = [];
    for (const event of batch) {
      if (event.type === "item_finished") pictures = [...pictures, ...sources.takePictures(event.item.id ?? "")];
      if (event.type === "text_delta") shown.push(...text.add(event));
      else if (!endsText(event)) shown.push(event);
      else {
        const said = text.end(pictures);
        if (said.length > 0) pictures = [];
        shown.push(...said, event);
        text = new CitedText(sources, isData);
      }
    }
    if (shown.length > 0) yield shown;
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

/** The text of one part, whose deltas are rewritten. The result does not depend on how the text is cut into deltas. */
class CitedText {
  readonly #sources: Sources;
  readonly #isData: boolean;
  #events: ModelEvent[] = [];
  /** Text that was read and not sent yet. */
  #plain = "";
  /** What may be a marker. */
  #held = "";
  /** The first half of a character. */
  #half = "";
  /** Code points so far. */
  #index = 0;
  /** The end of the line so far, and the index where it begins. */
  #line = "";
  #lineStart = 0;
  #last = " ";
  /** Links to files, which are annotated at the end. */
  readonly #links: Annotation[] = [];

  constructor(sources: Sources, isData: boolean) {
    this.#sources = sources;
    this.#isData = isData;
  }

  add(delta: TextDelta): readonly ModelEvent[] {
    const text = this.#half + delta.text;
    this.#half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
    for (const sign of this.#half === "" ? text : text.slice(0, -1)) this.#read(sign);
    const events = this.#taken();
    const [only] = events;
    // Log probabilities fit only the text as the model wrote it.
    return events.length === 1 && only?.type === "text_delta" && only.text === delta.text ? [delta] : events;
  }

  /** What is left, and what is cited at the end: also these pictures, if there was a text. */
  end(pictures: readonly CitedFile[]): readonly ModelEvent[] {
    const held = this.#held;
    this.#held = "";
    if (!MARKER_BEGIN.test(held)) this.#write(held);
    this.#write(this.#half);
    this.#half = "";
    if (this.#index > 0) for (const picture of pictures) this.#annotate(citationOf(picture, 0, 0));
    for (const link of this.#links.splice(0)) this.#annotate(link);
    return this.#taken();
  }

  #taken(): readonly ModelEvent[] {
    this.#flush();
    return this.#events.splice(0);
  }

  #flush(): void {
    if (this.#plain !== "") this.#events.push({ type: "text_delta", text: this.#plain });
    this.#plain = "";
  }

  #read(sign: string): void {
    if (this.#held === "" && sign !== "【") return this.#write(sign);
    if (sign === "【") {
      this.#write(this.#held);
      this.#held = sign;
      return;
    }
    this.#held += sign;
    if (sign === "】") this.#resolve();
    else if (sign === "\n" || this.#held.length > MARKER_CHARACTERS_MAX) this.#release();
  }

  #release(): void {
    const held = this.#held;
    this.#held = "";
    this.#write(held);
  }

  #resolve(): void {
    const numbers = MARKER.exec(this.#held)?.[1];
    if (numbers === undefined) return this.#release();
    this.#held = "";
    if (this.#isData) return;
    for (const number of numbers.split(/[,;]/)) {
      const source = this.#sources.find(number.trim());
      if (source?.type === "web") this.#citePage(source);
      else if (source !== undefined)
        this.#annotate({
          type: "file_citation",
          file_id: source.fileId,
          filename: source.filename,
          index: this.#index,
        });
    }
  }

  #citePage({ url, title }: Extract<Citable, { type: "web" }>): void {
    if (!/\s/.test(this.#last)) this.#write(" ");
    this.#flush();
    const link = `([${hostOf(url)}](${url.replaceAll("(", "%28").replaceAll(")", "%29")}))`;
    const start = this.#index;
    this.#index += lengthOf(link);
    this.#events.push({ type: "text_delta", text: link, isCitation: true });
    this.#annotate({ type: "url_citation", start_index: start, end_index: this.#index, title, url });
    this.#last = ")";
    this.#line = "";
    this.#lineStart = this.#index;
  }

  #annotate(annotation: Annotation): void {
    this.#flush();
    this.#events.push({ type: "annotation", annotation });
  }

  /** Text that stays as the model wrote it. */
  #write(text: string): void {
    for (const sign of text) {
      this.#plain += sign;
      this.#index += 1;
      this.#last = sign;
      this.#line += sign;
      if (sign === ")") this.#annotateLink();
      if (sign === "\n" || this.#line.length > LINK_CHARACTERS_MAX) {
        this.#line = "";
        this.#lineStart = this.#index;
      }
    }
  }

  /** Annotates the Markdown link that ends here, if it leads to a known page or file. */
  #annotateLink(): void {
    const line = this.#line;
    const middle = line.lastIndexOf("](");
    const begin = middle === -1 ? -1 : line.lastIndexOf("[", middle);
    if (begin === -1 || this.#isData) return;
    const address = line.slice(middle + 2, -1);
    if (address.startsWith(SANDBOX)) return this.#citeFile(address);
    const source = this.#sources.findUrl(address);
    if (source === undefined) return;
    const start = this.#lineStart + lengthOf(line.slice(0, begin));
    const { url, title } = source;
    this.#annotate({ type: "url_citation", start_index: start, end_index: this.#index, title, url });
  }

  /** `address` stands before the sign that was written last. */
  #citeFile(address: string): void {
    const file = this.#sources.findFile(address);
    const end = this.#index - 1;
    if (file !== undefined) this.#links.push(citationOf(file, end - lengthOf(address), end));
  }
}

function citationOf({ containerId, fileId, path }: CitedFile, start: number, end: number): Annotation {
  return {
    type: "container_file_citation",
    container_id: containerId,
    file_id: fileId,
    filename: path.slice(path.lastIndexOf("/") + 1),
    start_index: start,
    end_index: end,
  };
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A sign of percent that escapes nothing.
  }
}

/** In code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _sign of text) length += 1;
  return length;
}

function hostOf(url: string): string {
  return (URL.parse(url)?.hostname ?? url).replace(/^www\./, "");
}
