import type { Archive } from "./archive.ts";
import type { PartKind } from "./content-types.ts";
import { readDateStyles } from "./number-formats.ts";
import { readTargets } from "./read-targets.ts";
import { readXml } from "./read-xml.ts";
import { SheetReader } from "./sheet-reader.ts";
import type { TextSink } from "./text-sink.ts";

interface Sheet {
  readonly name: string;
  readonly relation: string;
}

/** Writes the rows of all sheets in order, each sheet under its name. */
export async function readWorkbook(
  archive: Archive,
  parts: ReadonlyMap<PartKind, string>,
  sink: TextSink,
): Promise<void> {
  const workbook = parts.get("workbook") ?? "";
  const { sheets, since1904 } = await readSheets(archive, workbook);
  const targets = await readTargets(archive, workbook, "worksheet");
  const strings = parts.get("sharedStrings");
  const styles = parts.get("sheetStyles");
  const context = {
    sharedStrings: strings === undefined ? [] : await readSharedStrings(archive, strings),
    dateStyles: styles === undefined ? [] : await readDateStyles(archive, styles),
    since1904,
  };
  for (const { name, relation } of sheets) {
    const target = targets.get(relation);
    if (target === undefined) continue;
    sink.write(`## ${name}\n`);
    await readXml(archive, target, new SheetReader(sink, context));
    sink.write("\n");
  }
}

async function readSheets(archive: Archive, part: string): Promise<{ sheets: readonly Sheet[]; since1904: boolean }> {
  const sheets: Sheet[] = [];
  let since1904 = false;
  await readXml(archive, part, {
    openElement(name, attributes) {
      if (name === "workbookPr") since1904 = ["1", "true"].includes(attributes["date1904"] ?? "");
      if (name === "sheet") sheets.push({ name: attributes["name"] ?? "", relation: attributes["id"] ?? "" });
    },
  });
  return { sheets, since1904 };
}

/** Reads the texts that cells refer to by index, without their phonetic readings. */
async function readSharedStrings(archive: Archive, part: string): Promise<readonly string[]> {
  const strings: string[] = [];
  let pieces: string[] = [];
  let isText = false;
  let isPhonetic = false;
  await readXml(archive, part, {
    openElement(name) {
      if (name === "si") pieces = [];
      if (name === "rPh") isPhonetic = true;
      isText = name === "t" && !isPhonetic;
    },
    closeElement(name) {
      isText = false;
      if (name === "rPh") isPhonetic = false;
      if (name === "si") strings.push(pieces.join(""));
    },
    text(text) {
      if (isText) pieces.push(text);
    },
  });
  return strings;
}
