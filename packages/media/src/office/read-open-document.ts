import type { Archive } from "./archive.ts";
import { readXml, type XmlListener } from "./read-xml.ts";
import type { TextSink } from "./text-sink.ts";

const CONTENT = "content.xml";
const MIME_TYPE = /^application\/vnd\.oasis\.opendocument\./;
/** More consecutive blanks or cells are left out: a document can request any number. */
const REPEATED_MAX = 100;
/** Text that is not shown. */
const SKIPPED: ReadonlySet<string> = new Set(["tracked-changes", "annotation"]);

/** Whether the archive is a document of the OpenDocument format, such as odt. */
export async function isOpenDocument(archive: Archive): Promise<boolean> {
  if (!archive.has(CONTENT) || !archive.has("mimetype")) return false;
  for await (const text of archive.textOf("mimetype")) return MIME_TYPE.test(text);
  return false;
}

/** Writes a line per paragraph, `#` before headings, table rows with bars. */
export async function readOpenDocument(archive: Archive, sink: TextSink): Promise<void> {
  await readXml(archive, CONTENT, new ContentReader(sink));
}

class ContentReader implements XmlListener {
  readonly #sink: TextSink;
  /** A note is within its paragraph. */
  readonly #open: { readonly mark: string; readonly pieces: string[] }[] = [];
  #row: string[] | null = null;
  #cell: string[] = [];
  #skipDepth = 0;

  constructor(sink: TextSink) {
    this.#sink = sink;
  }

  openElement(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#skipDepth > 0 || SKIPPED.has(name)) {
      this.#skipDepth += 1;
      return;
    }
    if (name === "h") this.#open.push({ mark: `${"#".repeat(levelOf(attributes["outline-level"]))} `, pieces: [] });
    if (name === "p") this.#open.push({ mark: "", pieces: [] });
    if (name === "s") this.text(" ".repeat(Math.min(REPEATED_MAX, Number(attributes["c"] ?? 1) || 1)));
    if (name === "tab") this.text("\t");
    if (name === "line-break") this.text("\n");
    if (name === "table-row") this.#row = [];
    if (name === "table-cell") this.#cell = [];
  }

  closeElement(name: string): void {
    if (this.#skipDepth > 0) {
      this.#skipDepth -= 1;
      return;
    }
    if (name === "p" || name === "h") this.#endParagraph();
    if (name === "table-cell") this.#row?.push(this.#cell.join(" ").replaceAll("\n", " "));
    if (name === "table-row") this.#endRow();
  }

  text(text: string): void {
    if (this.#skipDepth === 0) this.#open.at(-1)?.pieces.push(text);
  }

  #endParagraph(): void {
    const paragraph = this.#open.pop();
    const text = paragraph?.pieces.join("").trimEnd() ?? "";
    if (text === "") return;
    if (this.#row === null) this.#sink.write(`${paragraph?.mark ?? ""}${text}\n`);
    else this.#cell.push(text);
  }

  #endRow(): void {
    const cells = this.#row ?? [];
    this.#row = null;
    if (cells.some((cell) => cell !== "")) this.#sink.write(`| ${cells.join(" | ")} |\n`);
  }
}

function levelOf(level: string | undefined): number {
  return Math.min(6, Math.max(1, Number(level) || 1));
}
