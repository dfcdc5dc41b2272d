import type { Archive } from "./archive.ts";
import type { PartKind } from "./content-types.ts";
import { readXml, type XmlListener } from "./read-xml.ts";
import type { TextSink } from "./text-sink.ts";

/** Writes the text of a document, then its footnotes and endnotes. */
export async function readDocument(
  archive: Archive,
  parts: ReadonlyMap<PartKind, string>,
  sink: TextSink,
): Promise<void> {
  const styles = parts.get("documentStyles");
  const headings = styles === undefined ? new Map<string, number>() : await readHeadingStyles(archive, styles);
  for (const kind of ["document", "footnotes", "endnotes"] as const) {
    const part = parts.get(kind);
    if (part !== undefined) await readXml(archive, part, new DocumentReader(sink, headings));
  }
}

const HEADING = /^heading (\d)$/i;

/**
 * The levels of heading styles by style id, which paragraphs refer to. The ids depend on the language of Office, but
 * the names do not.
 */
async function readHeadingStyles(archive: Archive, part: string): Promise<ReadonlyMap<string, number>> {
  const levels = new Map<string, number>();
  let style = "";
  await readXml(archive, part, {
    openElement(name, attributes) {
      if (name === "style") style = attributes["styleId"] ?? "";
      if (name !== "name") return;
      const styleName = attributes["val"] ?? "";
      if (/^title$/i.test(styleName)) levels.set(style, 1);
      const level = HEADING.exec(styleName)?.[1];
      if (level !== undefined) levels.set(style, Number(level));
    },
  });
  return levels;
}

/** Elements that represent a character. */
const SIGNS: Readonly<Record<string, string>> = { tab: "\t", ptab: "\t", br: "\n", cr: "\n", noBreakHyphen: "-" };
/** Holds the same content again for old programs, so it is skipped. */
const FALLBACK = "Fallback";

/** One of the nested tables that are open. */
interface Table {
  readonly cells: string[];
  cell: string[];
}

/**
 * Writes the text of a document's body: a line for each paragraph, `#` before headings, `-` before list items, table
 * rows with bars.
 */
class DocumentReader implements XmlListener {
  readonly #sink: TextSink;
  readonly #headings: ReadonlyMap<string, number>;
  readonly #tables: Table[] = [];
  #paragraph: string[] = [];
  #mark = "";
  #isText = false;
  /** Whether a run of text is open; outside of runs, elements such as `tab` are settings. */
  #isRun = false;
  /** Depth within a skipped element; 0 outside. */
  #skipDepth = 0;

  constructor(sink: TextSink, headings: ReadonlyMap<string, number>) {
    this.#sink = sink;
    this.#headings = headings;
  }

  openElement(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#skipDepth > 0 || name === FALLBACK) {
      this.#skipDepth += 1;
      return;
    }
    switch (name) {
      case "t":
        this.#isText = true;
        return;
      case "r":
        this.#isRun = true;
        return;
      case "pStyle":
        this.#mark ||= "#".repeat(this.#headings.get(attributes["val"] ?? "") ?? 0);
        return;
      case "numPr":
        this.#mark ||= "-";
        return;
      case "tbl":
        this.#endParagraph();
        this.#tables.push({ cells: [], cell: [] });
        return;
      default:
        if (this.#isRun && Object.hasOwn(SIGNS, name)) this.#paragraph.push(SIGNS[name] ?? "");
    }
  }

  closeElement(name: string): void {
    if (this.#skipDepth > 0) {
      this.#skipDepth -= 1;
      return;
    }
    switch (name) {
      case "t":
        this.#isText = false;
        return;
      case "r":
        this.#isRun = false;
        return;
      case "p":
        this.#endParagraph();
        return;
      case "tc":
        this.#endCell();
        return;
      case "tr":
        this.#endRow();
        return;
      case "tbl":
        this.#tables.pop();
        return;
      default:
    }
  }

  text(text: string): void {
    if (this.#isText && this.#skipDepth === 0) this.#paragraph.push(text);
  }

  #endParagraph(): void {
    const text = this.#paragraph.join("").trimEnd();
    const mark = this.#mark;
    this.#paragraph = [];
    this.#mark = "";
    if (text !== "") this.#writeLine(mark === "" ? text : `${mark} ${text}`);
  }

  #endCell(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    table.cells.push(table.cell.join(" ").replaceAll("\n", " "));
    table.cell = [];
  }

  #endRow(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    this.#writeLine(`| ${table.cells.join(" | ")} |`); // A nested table's row goes into the outer cell.
    this.#tables.push({ cells: [], cell: [] });
  }

  /** Writes to the open cell, or to the text if no cell is open. */
  #writeLine(line: string): void {
    const cell = this.#tables.at(-1)?.cell;
    if (cell === undefined) this.#sink.write(`${line}\n`);
    else cell.push(line);
  }
}
