import { type AntiphonSpeech, APIUserAbortError } from "../../src/client/index.ts";
import { byId, setText } from "./elements.ts";
import { sentenceOf } from "./sentence-of.ts";

/** Maximum files that wait to be transcribed. */
const FILES_MAX = 50;

export interface RecordingsParts {
  readonly speech: AntiphonSpeech;
  readonly addText: (text: string) => void;
  readonly showError: (sentence: string) => void;
}

/** Transcribes files that are chosen, or dropped anywhere on the page, one after the other. */
export class Recordings {
  readonly #parts: RecordingsParts;
  readonly #waiting: File[] = [];
  readonly #note = byId("upload-note", HTMLElement);
  #current: AbortController | null = null;

  constructor(parts: RecordingsParts) {
    this.#parts = parts;
    const input = byId("file", HTMLInputElement);
    input.addEventListener("change", () => {
      this.#take([...(input.files ?? [])]);
      input.value = "";
    });
    listenForDrops((files) => this.#take(files));
  }

  /** Aborts the current file and drops the waiting ones. */
  stop(): void {
    this.#waiting.length = 0;
    this.#current?.abort();
  }

  #take(files: readonly File[]): void {
    this.#parts.showError(
      files.length > FILES_MAX ? `Only the first ${FILES_MAX} of ${files.length} files are transcribed.` : "",
    );
    this.#waiting.push(...files.slice(0, FILES_MAX - this.#waiting.length));
    if (this.#current === null) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    for (let file = this.#waiting.shift(); file !== undefined; file = this.#waiting.shift()) {
      this.#current = new AbortController();
      const more = this.#waiting.length === 0 ? "" : ` ${this.#waiting.length} more waiting.`;
      setText(this.#note, `Transcribing ${file.name}…${more}`);
      await this.#read(file, this.#current.signal);
    }
    this.#current = null;
  }

  async #read(file: File, signal: AbortSignal): Promise<void> {
    try {
      const { text } = await this.#parts.speech.transcribe({ audio: file }, { signal });
      this.#parts.addText(text);
      setText(this.#note, text === "" ? `No words were found in ${file.name}.` : `${file.name} was transcribed.`);
    } catch (error) {
      setText(this.#note, "");
      if (!(error instanceof APIUserAbortError)) this.#parts.showError(`${file.name}: ${sentenceOf(error)}`);
    }
  }
}

/** Takes files dropped anywhere on the page. Otherwise, the browser would open them in place of the page. */
function listenForDrops(take: (files: readonly File[]) => void): void {
  const place = byId("drop", HTMLElement);
  const mark = (event: DragEvent, isOver: boolean): void => {
    if (event.dataTransfer?.types.includes("Files") !== true) return; // Dragged text goes into text fields.
    event.preventDefault();
    place.classList.toggle("over", isOver);
  };
  document.addEventListener("dragover", (event) => mark(event, true));
  document.addEventListener("dragleave", (event) => mark(event, false));
  document.addEventListener("drop", (event) => {
    mark(event, false);
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) take(files);
  });
}
