import { type AntiphonSpeech, APIUserAbortError } from "../../packages/client/src/index.ts";
import { copyText } from "./clipboard.ts";
import { byId, setText } from "./elements.ts";
import { isRecord, keep, kept } from "./kept.ts";
import { sentenceOf } from "./sentence-of.ts";

/** Maximum files that wait to be transcribed. */
const FILES_MAX = 50;
/** Maximum recordings in the list. The oldest leave it. */
const SHOWN_MAX = 100;
const KEPT_AS = "recordings";

export interface RecordingsParts {
  readonly speech: AntiphonSpeech;
  readonly addText: (text: string) => void;
  readonly showError: (sentence: string) => void;
}

/** A file, and what became of it. Its text is null as long as there is none. */
interface Recording {
  readonly name: string;
  text: string | null;
  note: string;
}

const RELOADED = "The page was reloaded before this was transcribed. Drop it again.";

/** Transcribes files that are chosen, or dropped anywhere on the page, one after the other. Each has its own text. */
export class Recordings {
  readonly #parts: RecordingsParts;
  readonly #waiting: { readonly file: File; readonly recording: Recording }[] = [];
  readonly #list = byId("recordings-list", HTMLElement);
  readonly #note = byId("upload-note", HTMLElement);
  #shown: readonly Recording[] = keptRecordings();
  #current: AbortController | null = null;

  constructor(parts: RecordingsParts) {
    this.#parts = parts;
    const input = byId("file", HTMLInputElement);
    input.addEventListener("change", () => {
      this.#take([...(input.files ?? [])]);
      input.value = "";
    });
    listenForDrops((files) => this.#take(files));
    this.#show();
  }

  get isBusy(): boolean {
    return this.#current !== null;
  }

  /** Aborts the current file and drops the waiting ones. */
  stop(): void {
    for (const { recording } of this.#waiting.splice(0)) recording.note = "Stopped.";
    this.#current?.abort();
    this.#show();
  }

  #take(files: readonly File[]): void {
    this.#parts.showError(
      files.length > FILES_MAX ? `Only the first ${FILES_MAX} of ${files.length} files are transcribed.` : "",
    );
    const taken = files.slice(0, FILES_MAX - this.#waiting.length).map((file) => ({
      file,
      recording: { name: file.name, text: null, note: "Waiting…" },
    }));
    this.#waiting.push(...taken);
    this.#shown = [...this.#shown, ...taken.map(({ recording }) => recording)].slice(-SHOWN_MAX);
    this.#show();
    if (this.#current === null) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#current = new AbortController();
      next.recording.note = "Transcribing…";
      this.#show();
      await this.#read(next.file, next.recording, this.#current.signal);
      this.#show();
    }
    this.#current = null;
  }

  async #read(file: File, recording: Recording, signal: AbortSignal): Promise<void> {
    try {
      const { text } = await this.#parts.speech.transcribe({ audio: file }, { signal });
      recording.text = text;
      recording.note = text === "" ? "No words were found." : "";
      setText(this.#note, `${file.name} was transcribed.`);
    } catch (error) {
      const isStopped = error instanceof APIUserAbortError;
      recording.note = isStopped ? "Stopped." : sentenceOf(error);
      if (!isStopped) this.#parts.showError(`${file.name}: ${sentenceOf(error)}`);
    }
  }

  #show(): void {
    this.#list.replaceChildren(...this.#shown.map((recording) => this.#itemOf(recording)));
    keep(
      KEPT_AS,
      this.#shown.map(({ name, text, note }) => ({ name, text, note })),
    );
  }

  #itemOf(recording: Recording): HTMLElement {
    const { name, text, note } = recording;
    const item = document.createElement("li");
    item.append(textElement("h3", name));
    if (note !== "") item.append(textElement("p", note, "hint"));
    if (text === null || text === "") return item;
    const actions = textElement("p", "", "actions");
    actions.append(
      button("Copy", `the text of ${name}`, () => void copyText(text, this.#note)),
      button("Add to transcript", `from ${name}`, () => this.#parts.addText(text)),
      button("Remove", name, () => this.#remove(recording)),
    );
    item.append(textElement("p", text, "said"), actions);
    return item;
  }

  #remove(recording: Recording): void {
    this.#shown = this.#shown.filter((one) => one !== recording);
    this.#show();
    byId("file", HTMLElement).focus();
  }
}

function textElement(tag: "h3" | "p", text: string, className = ""): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className !== "") element.className = className;
  return element;
}

/** A button whose name says more than its text shows, because each recording has the same ones. */
function button(label: string, more: string, press: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "quiet";
  const unseen = document.createElement("span");
  unseen.className = "unseen";
  unseen.textContent = more;
  made.append(label, " ", unseen);
  made.addEventListener("click", press);
  return made;
}

function keptRecordings(): readonly Recording[] {
  const value = kept(KEPT_AS);
  return Array.isArray(value) ? value.flatMap((one: unknown) => recordingOf(one)) : [];
}

/** Files themselves cannot be kept over a reload. */
function recordingOf(value: unknown): Recording[] {
  if (!isRecord(value)) return [];
  const { name, text, note } = value;
  if (typeof name !== "string" || typeof note !== "string") return [];
  if (typeof text === "string") return [{ name, text, note }];
  return [{ name, text: null, note: note.endsWith("…") ? RELOADED : note }];
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
