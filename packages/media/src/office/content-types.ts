import type { Archive } from "./archive.ts";
import { readXml } from "./read-xml.ts";

/** The kinds of a document's parts by the end of their content types, because parts may have any names. */
const KINDS = {
  document: [
    "wordprocessingml.document.main+xml",
    "ms-word.document.macroEnabled.main+xml",
    "wordprocessingml.template.main+xml",
  ],
  workbook: ["spreadsheetml.sheet.main+xml", "ms-excel.sheet.macroEnabled.main+xml", "spreadsheetml.template.main+xml"],
  presentation: [
    "presentationml.presentation.main+xml",
    "presentationml.slideshow.main+xml",
    "presentationml.template.main+xml",
    "ms-powerpoint.presentation.macroEnabled.main+xml",
  ],
  documentStyles: ["wordprocessingml.styles+xml"],
  footnotes: ["wordprocessingml.footnotes+xml"],
  endnotes: ["wordprocessingml.endnotes+xml"],
  sheetStyles: ["spreadsheetml.styles+xml"],
  sharedStrings: ["spreadsheetml.sharedStrings+xml"],
} as const;

export type PartKind = keyof typeof KINDS;

/** Reads the archive's name of the first part of each kind. */
export async function readContentTypes(archive: Archive): Promise<ReadonlyMap<PartKind, string>> {
  const parts = new Map<PartKind, string>();
  await readXml(archive, "[Content_Types].xml", {
    openElement(name, { PartName: part, ContentType: type }) {
      if (name !== "Override" || part === undefined || type === undefined) return;
      const kind = partKind(type);
      if (kind !== null && !parts.has(kind)) parts.set(kind, part.replace(/^\//, ""));
    },
  });
  return parts;
}

function partKind(contentType: string): PartKind | null {
  for (const [kind, ends] of Object.entries(KINDS)) {
    if (isKind(kind) && ends.some((end) => contentType.endsWith(end))) return kind;
  }
  return null;
}

function isKind(name: string): name is PartKind {
  return Object.hasOwn(KINDS, name);
}
