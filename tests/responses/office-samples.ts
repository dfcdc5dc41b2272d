import { strToU8, zipSync } from "fflate";

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const TYPES = "http://schemas.openxmlformats.org/package/2006/content-types";
const OFFICE = "application/vnd.openxmlformats-officedocument";
const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships";
const WORKSHEET = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet";

/** A zip archive of XML files; adds the XML declarations. */
export function archiveOf(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).map(([name, xml]) => [name, strToU8(HEAD + xml)]);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 6 }));
}

function contentTypes(parts: Readonly<Record<string, string>>): string {
  const overrides = Object.entries(parts).map(
    ([name, type]) => `<Override PartName="/${name}" ContentType="${type}"/>`,
  );
  return `<Types xmlns="${TYPES}"><Default Extension="xml" ContentType="application/xml"/>${overrides.join("")}</Types>`;
}

/** A text document with this body. Paragraphs with the style `berschrift1` are first-level headings. */
export function docxOf(body: string, others: Readonly<Record<string, string>> = {}): Buffer {
  return archiveOf({
    "[Content_Types].xml": contentTypes({
      "word/document2.xml": `${OFFICE}.wordprocessingml.document.main+xml`,
      "word/styles.xml": `${OFFICE}.wordprocessingml.styles+xml`,
      "word/footnotes.xml": `${OFFICE}.wordprocessingml.footnotes+xml`,
    }),
    "word/styles.xml": `<w:styles ${WORD}><w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    "word/footnotes.xml": `<w:footnotes ${WORD}/>`,
    "word/document2.xml": `<w:document ${WORD}><w:body>${body}</w:body></w:document>`,
    ...others,
  });
}

export function paragraph(text: string, settings = ""): string {
  return `<w:p><w:pPr>${settings}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

/** Sheets of a workbook by name, each as the XML of its rows. The second cell style is a date. */
export interface Workbook {
  readonly sheets: Readonly<Record<string, string>>;
  readonly sharedStrings?: readonly string[];
}

export function xlsxOf({ sheets, sharedStrings = [] }: Workbook): Buffer {
  const listed = Object.entries(sheets);
  const relation = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  return archiveOf({
    "[Content_Types].xml": contentTypes({
      "xl/workbook.xml": `${OFFICE}.spreadsheetml.sheet.main+xml`,
      "xl/styles.xml": `${OFFICE}.spreadsheetml.styles+xml`,
      "xl/sharedStrings.xml": `${OFFICE}.spreadsheetml.sharedStrings+xml`,
    }),
    "xl/workbook.xml": `<workbook ${SHEET} ${relation}><sheets>${listed
      .map(([name], index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="${RELATIONS}">${listed
      .map((_, index) => `<Relationship Id="rId${index + 1}" Type="${WORKSHEET}" Target="worksheets/s${index}.xml"/>`)
      .join("")}</Relationships>`,
    "xl/styles.xml": `<styleSheet ${SHEET}><numFmts><numFmt numFmtId="170" formatCode="0.00&quot; days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
    "xl/sharedStrings.xml": `<sst ${SHEET}>${sharedStrings.map((text) => `<si>${text}</si>`).join("")}</sst>`,
    ...Object.fromEntries(
      listed.map(([, rows], index) => [
        `xl/worksheets/s${index}.xml`,
        `<worksheet ${SHEET}><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
  });
}
