import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { pdfOf } from "../responses/media-samples.ts";
import { docxOf, epubOf, odtOf, paragraph, pptxOf, xlsxOf } from "../responses/office-samples.ts";
import { createStore, fileOf, search, takeIn, takenIn, textOf, upload } from "./store-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const heading = (text: string): string => paragraph(text, '<w:pStyle w:val="berschrift1"/>');

test.each<readonly [name: string, filename: string, content: string | Uint8Array, text: string]>([
  ["text", "a.txt", "The fox jumps.", "The fox jumps."],
  ["text in Windows-1252", "a.txt", Buffer.from("Stra\xdfe und Fl\xfcsse", "latin1"), "Straße und Flüsse"],
  ["text in UTF-16", "a.txt", Buffer.from("\ufeffThe fox", "utf16le"), "The fox"],
  ["code without a known name", "Makefile", "all:\n\techo done\n", "all:\n\techo done\n"],
  ["JSON", "a.json", '{"animal": "fox"}', '{"animal": "fox"}'],
  ["CSV", "a.csv", "animal,legs\nfox,4\n", "animal,legs\nfox,4\n"],
  ["a page", "a.html", "<h2>On <i>foxes</i></h2><nav>Menu</nav><p>They jump.</p>", "## On foxes\n\nThey jump."],
  ["a page without a name for it", "page", "<!doctype html><h1>Foxes</h1><p>They jump.</p>", "# Foxes\n\nThey jump."],
  ["a PDF", "a.pdf", pdfOf("The fox jumps."), "The fox jumps."],
  ["a docx document", "a.docx", docxOf(heading("Foxes") + paragraph("They jump.")), "# Foxes\nThey jump."],
  [
    "an xlsx workbook",
    "a.xlsx",
    xlsxOf({ sharedStrings: ["<t>fox</t>"], sheets: { S: '<row><c t="s"><v>0</v></c></row>' } }),
    "## S\nfox",
  ],
  [
    "a pptx presentation",
    "a.pptx",
    pptxOf([
      ["Foxes", "They jump."],
      ["Dogs", "They sleep."],
    ]),
    "## Foxes\nThey jump.\n\n## Dogs\nThey sleep.",
  ],
  [
    "an odt document",
    "a.odt",
    odtOf('<text:h text:outline-level="2">Foxes</text:h><text:p>They<text:s text:c="2"/>jump.</text:p>'),
    "## Foxes\nThey  jump.",
  ],
  [
    "an epub book",
    "a.epub",
    epubOf(["<html><h1>Foxes</h1><p>They&nbsp;jump.</p></html>", "<html><p>They sleep.</p></html>"]),
    "# Foxes\n\nThey\u00a0jump.\n\nThey sleep.",
  ],
])("%s is taken in and found", async (_name, filename, content, text) => {
  const taken = await takeIn(server, filename, content);
  expect(taken.file).toMatchObject({ status: "completed", last_error: null });
  expect(taken.text).toBe(text);
  const [found] = await search(server, taken.storeId, text);
  expect(found).toMatchObject({ filename });
});

const FAILING: readonly (readonly [string, string, string | Uint8Array, code: string, message: string])[] = [
  ["empty", "a.txt", " \n ", "invalid_file", "The file holds no text."],
  [
    "a picture",
    "a.png",
    Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1"),
    "unsupported_file",
    "The file is of a type that cannot be read.",
  ],
  [
    "bytes of nothing known",
    "a.bin",
    Buffer.from([1, 0, 200, 255, 0]),
    "unsupported_file",
    "The file is of a type that cannot be read.",
  ],
  ["no PDF", "a.pdf", "The fox jumps.", "invalid_file", "The file is named or declared as a PDF, but is not one."],
  ["a broken PDF", "a.pdf", "%PDF-1.7\n1 0 obj << /Type", "invalid_file", "The file is a PDF that cannot be read."],
  [
    "an old Office document",
    "a.doc",
    Buffer.from("d0cf11e0a1b11ae100", "hex"),
    "unsupported_file",
    "The file is protected by a password,",
  ],
  [
    "a zip bomb",
    "a.docx",
    docxOf(paragraph(" ".repeat(300 * 1024 * 1024))),
    "invalid_file",
    "The file takes too much time or memory to read.",
  ],
];

test.each(FAILING)("a file that is %s fails with a reason", async (...sample) => {
  const [, filename, content, code, message] = sample;
  const { file } = await takeIn(server, filename, content);
  expect(file).toMatchObject({ status: "failed", last_error: { code }, usage_bytes: 0 });
  expect(file.last_error?.message).toContain(message);
});

test("passages of a long file are found under their headings, and its text is whole", async () => {
  const sections = ["alpha", "beta", "gamma"].map(
    (name) => `# On ${name}\n\n${`The ${name} jumps over it. `.repeat(400)}\n\n`,
  );
  const text = sections.join("");
  const taken = await takeIn(server, "a.md", text);
  expect(taken.text).toBe(text);
  const found = await search(server, taken.storeId, "gamma");
  expect(found[0]?.content[0]?.text).toContain("gamma");
});

test("two thousand files of a batch are taken in, with every tenth broken", async () => {
  const contents = Array.from({ length: 2000 }, (_, index) => (index % 10 === 0 ? "\0" : `Note ${index} on foxes.`));
  const ids: string[] = [];
  for (let start = 0; start < contents.length; start += 50)
    ids.push(
      ...(await Promise.all(
        contents.slice(start, start + 50).map((text, index) => upload(server, `${start + index}.txt`, text)),
      )),
    );
  const storeId = await createStore(server, []);
  const batch = await server.post(`/v1/vector_stores/${storeId}/file_batches`, { file_ids: ids });
  expect(batch.status).toBe(200);
  const { file_counts: counts } = await takenIn(server, storeId);
  expect(counts).toEqual({ in_progress: 0, completed: 1800, failed: 200, cancelled: 0, total: 2000 });
  expect((await search(server, storeId, "note 1999"))[0]?.content[0]?.text).toBe("Note 1999 on foxes.");
  expect(await textOf(server, storeId, ids[7] ?? "")).toBe("Note 7 on foxes.");
  expect((await fileOf(server, storeId, ids[10] ?? "")).last_error?.code).toBe("unsupported_file");
}, 180_000);
