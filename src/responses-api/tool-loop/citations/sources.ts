import type { Citable, CitedFile } from "@antiphon/domain/hosted-tool.ts";

/** The scheme of links to files of a container. */
export const SANDBOX = "sandbox:";

export type Numbered = Exclude<Citable, CitedFile>;

/** The sources that a response may cite. The tool loop adds to it during the response. */
export class Sources {
  readonly #byNumber = new Map<string, Numbered>();
  readonly #byUrl = new Map<string, Extract<Citable, { type: "web" }>>();
  readonly #byPath = new Map<string, CitedFile>();
  /** Pictures that no text has cited yet, by the item that shows them. */
  readonly #pictures = new Map<string, CitedFile[]>();
  #hadResults = false;

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

  /** The model saw numbered results before a crash. They are known, but cannot be cited any more. */
  goOn(): void {
    this.#hadResults = true;
  }

  /** Whether the model has numbered results, so that its texts may have markers. */
  get hasResults(): boolean {
    return this.#hadResults || this.#byNumber.size > 0;
  }

  /** Finds a file by an address such as `sandbox:/mnt/data/chart.png`, which may contain escapes. */
  findFile(address: string): CitedFile | undefined {
    const path = address.slice(SANDBOX.length);
    return this.#byPath.get(path) ?? this.#byPath.get(unescapePath(path));
  }

  /** The pictures shown by the item; empty on later calls. */
  takePictures(itemId: string): readonly CitedFile[] {
    const pictures = this.#pictures.get(itemId) ?? [];
    this.#pictures.delete(itemId);
    return pictures;
  }

  /** Finds a source by a marker's text, such as `web:3`. */
  find(marker: string): Numbered | undefined {
    return this.#byNumber.get(marker);
  }

  findUrl(url: string) {
    return this.#byUrl.get(url) ?? this.#byUrl.get(url.endsWith("/") ? url.slice(0, -1) : `${url}/`);
  }
}

function unescapePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A percent sign that escapes nothing.
  }
}
