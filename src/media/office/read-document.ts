import type { Archive } from "./archive.ts";
import type { PartKind } from "./content-types.ts";
import { DocumentReader } from "./document-reader.ts";
import { readHeadingStyles } from "./document-styles.ts";
import { readXml } from "./read-xml.ts";
import type { TextSink } from "./text-sink.ts";

/** The text of a text document, then its notes. */
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
