import { describe, expect, test } from "vitest";
import { idOf, upload } from "../files/upload-form.ts";
import { verifies } from "../verifies.ts";
import { type BehindUpstream, says, serveBehind } from "./behind-upstream.ts";
import { checkReply } from "./check-refusal.ts";
import { archiveOf, docxOf, epubOf, odtOf, paragraph, pptxOf, xlsxOf } from "./office-samples.ts";

const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

const UNNAMED = { filename: "a", type: "application/octet-stream" };

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString("base64")}`;
const reading = (file: object): object => ({ input: [{ role: "user", content: [{ type: "input_file", ...file }] }] });

async function shown(behind: BehindUpstream, file: object): Promise<unknown> {
  const reply = await behind.create(reading(file));
  expect(reply.status, await reply.text()).toBe(200);
  return behind.asked();
}

const LETTER = docxOf(
  [
    paragraph("Report", '<w:pStyle w:val="berschrift1"/>'),
    paragraph("Sales &amp; costs", '<w:tabs><w:tab w:val="left"/></w:tabs>'),
    "<w:p><w:r><w:t>Two</w:t></w:r><w:r><w:tab/><w:t>words</w:t><w:br/><w:t>and a line</w:t></w:r></w:p>",
    paragraph("First point", '<w:numPr><w:ilvl w:val="0"/></w:numPr>'),
    "<w:p><w:del><w:r><w:delText>taken back</w:delText></w:r></w:del><w:r><w:t>kept</w:t></w:r></w:p>",
    "<w:p><w:r><w:fldChar/><w:instrText>PAGE</w:instrText></w:r></w:p>",
    `<w:tbl><w:tr><w:tc>${paragraph("Name")}</w:tc><w:tc>${paragraph("Sum")}</w:tc></w:tr>`,
    `<w:tr><w:tc>${paragraph("Ann")}${paragraph("Lee")}</w:tc><w:tc>${paragraph("7")}</w:tc></w:tr></w:tbl>`,
    `<mc:AlternateContent xmlns:mc="x"><mc:Choice>${paragraph("Once")}</mc:Choice><mc:Fallback>${paragraph("Once")}</mc:Fallback></mc:AlternateContent>`,
  ].join(""),
);
const LETTER_TEXT =
  "# Report\nSales & costs\nTwo\twords\nand a line\n- First point\nkept\n| Name | Sum |\n| Ann Lee | 7 |\nOnce";

const SALES = xlsxOf({
  sharedStrings: ["<t>Name</t>", "<r><t>Sh</t></r><r><t>ared</t></r><rPh><t>spoken</t></rPh>"],
  sheets: {
    Sales:
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>In line</t></is></c></row><row r="2"/>' +
      '<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><v>1.5</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" t="str"><f>A1&amp;"x"</f><v>Namex</v></c></row>' +
      '<row r="4"><c r="A4" s="1"><v>46082</v></c><c r="B4" s="1"><v>46082.5</v></c><c r="C4" s="2"><v>3</v></c><c r="D4" t="e"><v>#DIV/0!</v></c></row>',
    "Second &amp; last": "<row><c><v>1</v></c><c><v>2</v></c></row>",
  },
});
const SALES_TEXT =
  "## Sales\nName\t\tIn line\nShared\t1.5\tTRUE\tNamex\n2026-03-01\t2026-03-01 12:00:00\t3\t#DIV/0!\n\n## Second & last\n1\t2";

describe("an Office document", () => {
  test.each([
    ["a text document", { filename: "a.docx", type: DOCX }, LETTER, LETTER_TEXT],
    ["a workbook", { filename: "a.xlsx", type: XLSX }, SALES, SALES_TEXT],
    ["a presentation", UNNAMED, pptxOf([["Foxes", "They jump."]]), "## Foxes\nThey jump."],
    ["an odt document", UNNAMED, odtOf("<text:p>They jump.</text:p>"), "They jump."],
    ["an epub book", UNNAMED, epubOf(["<html><h1>Foxes</h1><p>They jump.</p></html>"]), "# Foxes\n\nThey jump."],
    ["one of no declared type", UNNAMED, LETTER, LETTER_TEXT],
  ])("reaches a model that reads no files as its text: %s", async (_name, { filename, type }, bytes, text) => {
    verifies("media.file.office-text");
    const asked = await shown(await serveBehind(says("Read.")), { filename, file_data: dataUrl(type, bytes) });
    expect(asked).toMatchObject({ messages: [{ role: "user", content: `File ${filename}:\n${text}` }] });
  });

  test("by the id of an upload is read in the same way", async () => {
    verifies("media.file.office-text");
    const behind = await serveBehind(says("Read."));
    const file_id = await idOf(
      await upload(behind.server, { file: new File([Uint8Array.from(LETTER)], "l.docx", { type: DOCX }) }),
    );
    expect(await shown(behind, { file_id })).toMatchObject({
      messages: [{ role: "user", content: `File l.docx:\n${LETTER_TEXT}` }],
    });
  });

  test("reaches a model with file input unchanged, under its own type", async () => {
    verifies("media.file.passed-to-models-that-read");
    const behind = await serveBehind(says("Read."), { MODEL_INPUT: "text,image,file" });
    const file_id = await idOf(
      await upload(behind.server, { file: new File([Uint8Array.from(LETTER)], "l.docx", { type: DOCX }) }),
    );
    const file = { filename: "l.docx", file_data: dataUrl(DOCX, LETTER) };
    expect(await shown(behind, { file_id })).toMatchObject({ messages: [{ content: [{ type: "file", file }] }] });
  });

  test.each([
    [
      "other archives",
      archiveOf({ "a.xml": "<a/>" }),
      "unsupported_file",
      /is of a type that cannot be read\. PDFs, docx, pptx, xlsx, odt, epub and text/,
    ],
    [
      "archives that end too soon",
      LETTER.subarray(0, LETTER.length / 2),
      "unsupported_file",
      /an Office document or an archive that cannot be read/,
    ],
    [
      "invalid XML",
      docxOf("<w:p><w:broken"),
      "unsupported_file",
      /an Office document or an archive that cannot be read/,
    ],
    ["no text", docxOf("<w:p/>"), "unsupported_file", /holds no text/],
    [
      "documents of before 2007",
      Buffer.from("D0CF11E0A1B11AE1000000000000", "hex"),
      "unsupported_file",
      /protected by a password, or of a type that Office used before 2007/,
    ],
  ])("is refused by its name where nobody can read it: %s", async (_name, bytes, code, message) => {
    verifies("media.file.office-text");
    const { create } = await serveBehind(says("Read."));
    const reply = await create(reading({ filename: "a.docx", file_data: dataUrl(DOCX, bytes) }));
    await checkReply(reply, { code, param: "input", message });
  });
});
