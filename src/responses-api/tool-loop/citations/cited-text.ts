import type { Annotation, LogProb } from "@antiphon/contracts/responses-api/types.ts";
import type { Citable, CitedFile } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { beginsMarker, isBlankSign, isClosed, MARKER_CHARACTERS_MAX, mayBeMarker, numbersOf } from "./markers.ts";
import { type Numbered, SANDBOX, type Sources } from "./sources.ts";

type TextDelta = Extract<ModelEvent, { type: "text_delta" }>;

/** The maximum distance from its end at which the beginning of a Markdown link is searched, in characters. */
const LINK_CHARACTERS_MAX = 4096;

/**
 * The text of one part, whose deltas are rewritten. The result does not depend on how the text is split into deltas.
 */
export class CitedText {
  readonly #sources: Sources;
  readonly #isData: boolean;
  #events: ModelEvent[] = [];
  /** Text that was read but not sent yet. */
  #plain = "";
  /** Blanks that a following marker would remove. They wait only if the response has results to cite. */
  #blanks = "";
  /** A potential marker. A label waits for the next character, which may make it the text of a link. */
  #marker = "";
  /** For deltas that wait as a whole. */
  #logprobs: readonly LogProb[] = [];
  /** The first half of a character. */
  #half = "";
  /** Code points so far. */
  #index = 0;
  /** The end of the line so far, and its start index. */
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
    const waiting = this.#waiting;
    const text = this.#half + delta.text;
    this.#half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
    for (const sign of this.#half === "" ? text : text.slice(0, -1)) this.#read(sign);
    return this.#withLogprobs(this.#takeText(), delta, waiting);
  }

  /**
   * Log probabilities match only the text as the model wrote it; the end of their delta may be shown later. `waiting`:
   * the text waiting before the delta.
   */
  #withLogprobs(events: readonly ModelEvent[], delta: TextDelta, waiting: string): readonly ModelEvent[] {
    const [only] = events;
    const text = only?.type === "text_delta" ? only.text : "";
    if (events.length === 1 && text === delta.text && this.#logprobs.length === 0) return [delta];
    const logprobs = [...this.#logprobs, ...(delta.logprobs ?? [])];
    this.#logprobs = [];
    if (logprobs.length === 0 || text + this.#waiting !== waiting + delta.text) return events;
    if (events.length === 1) return [{ type: "text_delta", text, logprobs }];
    this.#logprobs = logprobs;
    return events;
  }

  get #waiting(): string {
    return this.#blanks + this.#marker + this.#half;
  }

  /** The remaining text, and the citations at the end: also these pictures, if there was a text. */
  end(pictures: readonly CitedFile[]): readonly ModelEvent[] {
    while (this.#marker !== "") {
      if (beginsMarker(this.#marker)) this.#resolve();
      else this.#release();
    }
    this.#write(this.#takeBlanks() + this.#half);
    this.#half = "";
    if (this.#index > 0) for (const picture of pictures) this.#annotate(citationOf(picture, 0, 0));
    for (const link of this.#links.splice(0)) this.#annotate(link);
    return this.#takeText();
  }

  #takeText(): readonly ModelEvent[] {
    this.#flush();
    return this.#events.splice(0);
  }

  #flush(): void {
    if (this.#plain !== "") this.#events.push({ type: "text_delta", text: this.#plain });
    this.#plain = "";
  }

  #read(sign: string): void {
    const marker = this.#marker;
    if (marker === "") this.#readOutside(sign);
    else if (isClosed(marker) || sign === "【") {
      if (isClosed(marker) && sign !== "(") this.#resolve();
      else this.#release();
      this.#read(sign);
    } else {
      this.#marker += sign;
      if (!mayBeMarker(this.#marker)) this.#release();
      else if (sign === "】" && isClosed(this.#marker)) this.#resolve();
    }
  }

  #readOutside(sign: string): void {
    const { hasResults } = this.#sources;
    if (sign === "【" || (sign === "[" && hasResults)) this.#marker = sign;
    else if (hasResults && isBlankSign(sign)) this.#wait(sign);
    else this.#write(this.#takeBlanks() + sign);
  }

  #wait(blank: string): void {
    this.#blanks += blank;
    if (this.#blanks.length > MARKER_CHARACTERS_MAX) this.#write(this.#takeBlanks());
  }

  /** Continues after the first character of the waiting text, which begins no marker. */
  #release(): void {
    const [first = "", ...rest] = this.#marker;
    this.#marker = "";
    this.#write(this.#takeBlanks() + first);
    for (const sign of rest) this.#read(sign);
  }

  #takeBlanks(): string {
    const blanks = this.#blanks;
    this.#blanks = "";
    return blanks;
  }

  /** Replaces the waiting text: a marker, or the beginning of one at the end of the text. */
  #resolve(): void {
    const numbers = numbersOf(this.#marker) ?? [];
    this.#marker = "";
    for (const number of this.#isData ? [] : numbers) this.#cite(this.#sources.find(number));
    this.#blanks = "";
  }

  #cite(source: Numbered | undefined): void {
    if (source?.type === "web") this.#citePage(source);
    else if (source !== undefined)
      this.#annotate({
        type: "file_citation",
        file_id: source.fileId,
        filename: source.filename,
        index: this.#index,
      });
  }

  #citePage({ url, title }: Extract<Citable, { type: "web" }>): void {
    this.#write(this.#takeBlanks());
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

  /** Text that is unchanged. */
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

  /** `address` is before the last written character. */
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

/** In code points. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _sign of text) length += 1;
  return length;
}

function hostOf(url: string): string {
  return (URL.parse(url)?.hostname ?? url).replace(/^www\./, "");
}
