import type { Citable, CitedFile } from "../../../domain/hosted-tool.ts";

/** Links to files of a container begin so. */
export const SANDBOX = "sandbox:";

export type Numbered = Exclude<Citable, CitedFile>;

/** What a response may cite. The tool loop adds to it while the response is made. */
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

  /** The model was told of results with numbers before a crash. They can be named, and not be cited any more. */
  goOn(): void {
    this.#hadResults = true;
  }

  /** Whether the model was told of results with numbers, so that its texts may have markers. */
  get hasResults(): boolean {
    return this.#hadResults || this.#byNumber.size > 0;
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

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // A sign of percent that escapes nothing.
  }
}
