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

/** Slides with a title and a text each; the list of slides names them in reverse order of their files. */
export function pptxOf(slides: readonly (readonly [title: string, text: string])[]): Buffer {
  const main = "http://schemas.openxmlformats.org/presentationml/2006/main";
  const drawing = "http://schemas.openxmlformats.org/drawingml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const shape = (kind: string, text: string): string =>
    `<p:sp><p:nvPr><p:ph type="${kind}"/></p:nvPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const last = slides.length;
  return archiveOf({
    "[Content_Types].xml": contentTypes({
      "ppt/presentation.xml": `${OFFICE}.presentationml.presentation.main+xml`,
    }),
    "ppt/presentation.xml": `<p:presentation xmlns:p="${main}" xmlns:r="${office}"><p:sldIdLst>${slides
      .map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index}"/>`)
      .join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": `<Relationships xmlns="${RELATIONS}">${slides
      .map(
        (_, index) =>
          `<Relationship Id="rId${index}" Type="${office}/slide" Target="slides/slide${last - index}.xml"/>`,
      )
      .join("")}</Relationships>`,
    ...Object.fromEntries(
      slides.map(([title, text], index) => [
        `ppt/slides/slide${last - index}.xml`,
        `<p:sld xmlns:p="${main}" xmlns:a="${drawing}">${shape("title", title)}${shape("body", text)}</p:sld>`,
      ]),
    ),
  });
}

/** An OpenDocument text with this XML as its body. */
export function odtOf(body: string): Buffer {
  const names = ["office", "text", "table"]
    .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
    .join(" ");
  return zipOf({
    mimetype: "application/vnd.oasis.opendocument.text",
    "content.xml": `<office:document-content ${names}><office:body>${body}</office:body></office:document-content>`,
  });
}

/** A book with these chapters in XHTML. */
export function epubOf(chapters: readonly string[]): Buffer {
  const items = chapters.map(
    (_, index) => `<item id="c${index}" href="c%20${index}.xhtml" media-type="application/xhtml+xml"/>`,
  );
  const spine = chapters.map((_, index) => `<itemref idref="c${index}"/>`);
  return zipOf({
    mimetype: "application/epub+zip",
    "META-INF/container.xml": `<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    "OEBPS/book.opf": `<package><manifest>${items.join("")}</manifest><spine>${spine.join("")}</spine></package>`,
    ...Object.fromEntries(chapters.map((html, index) => [`OEBPS/c ${index}.xhtml`, html])),
  });
}

function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(files).map(([name, text]) => [name, strToU8(text)]);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 6 }));
}
