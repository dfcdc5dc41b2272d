import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { archiveOf, docxOf, paragraph, xlsxOf } from "../responses/office-samples.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";
import { chunk, serveModel } from "./model-server.ts";

const MEGABYTE = 1024 * 1024;
/** Room for one thread and its heap. Unpacked, the first documents would take several hundred megabytes. */
const GROWTH_BYTES_MAX = 400 * MEGABYTE;

/** Replaces the size of the named file in the zip directory by a small one. */
function declaringSmallSize(archive: Buffer, name: string): Buffer {
  const at = archive.lastIndexOf(name) - 46;
  expect(archive.readUInt32LE(at)).toBe(0x02014b50);
  const lie = Buffer.from(archive);
  lie.writeUInt32LE(1000, at + 24);
  return lie;
}

const blanks = paragraph(" ".repeat(300 * MEGABYTE));
const cell = '<c r="XFD1" t="s"><v>0</v></c>';

const DOCUMENTS: readonly (readonly [name: string, make: () => Buffer, code: string])[] = [
  ["unpack to 300 MB", () => docxOf(blanks), "file_too_large"],
  ["say less than they unpack to", () => declaringSmallSize(docxOf(blanks), "word/document2.xml"), "unsupported_file"],
  ["nest without end", () => docxOf("<w:p>".repeat(200_000)), "file_too_large"],
  [
    "have entities that multiply",
    () =>
      docxOf(paragraph("&lol;"), {
        "word/styles.xml": '<!DOCTYPE x [<!ENTITY lol "lol"><!ENTITY b "&lol;&lol;">]><x>&b;</x>',
      }),
    "unsupported_file",
  ],
  [
    "refer to one long text again and again",
    () =>
      xlsxOf({
        sharedStrings: [`<t>${"x".repeat(MEGABYTE)}</t>`],
        sheets: { S: '<row><c t="s"><v>0</v></c></row>'.repeat(20_000) },
      }),
    "file_too_large",
  ],
  [
    "have rows of one cell at their far end",
    () => xlsxOf({ sharedStrings: ["<t>x</t>"], sheets: { S: `<row>${cell}</row>`.repeat(20_000) } }),
    "file_too_large",
  ],
  [
    "have twenty thousand files",
    () => archiveOf(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`${index}`, ""]))),
    "file_too_large",
  ],
];

test("zip bombs are refused, and memory stays flat", async () => {
  verifies("media.file.office-limits");
  const upstream = await serveModel((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(chunk("Yes.", "stop"))}\n\ndata: [DONE]\n\n`);
  });
  const server = await startChildServer({ env: { MODEL_BASE_URL: upstream.url } });
  const ask = (bytes: Buffer): Promise<Response> => {
    const file = {
      type: "input_file",
      filename: "a.docx",
      file_data: `data:application/zip;base64,${bytes.toString("base64")}`,
    };
    return server.post("/v1/responses", { model: "m", input: [{ role: "user", content: [file] }] });
  };
  expect((await ask(docxOf(paragraph("Hello")))).status).toBe(200);
  const before = (await memoryOf(server.pid)).residentBytes;
  for (const [name, make, code] of DOCUMENTS) {
    const bytes = make();
    expect(bytes.length, name).toBeLessThan(4 * MEGABYTE);
    expect(await errorOf(await ask(bytes)), name).toMatchObject({ status: 400, code });
  }
  expect((await memoryOf(server.pid)).peakBytes - before).toBeLessThan(GROWTH_BYTES_MAX);
  expect((await ask(docxOf(paragraph("Still there")))).status).toBe(200);
  await upstream.close();
}, 240_000);
