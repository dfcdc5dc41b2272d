import { expect, test } from "vitest";
import { pdfOf, pdfUrl } from "../../../tests/responses/media-samples.ts";
import { verifies } from "../../../tests/verifies.ts";
import { createMediaReader } from "./media-reader.ts";

const OWNER = { organization: "acme", project: "p" };

test("the text of a PDF is cached", async () => {
  verifies("media.text.read-once");
  const reader = createMediaReader({
    egress: { fetchGuarded: () => Promise.reject(new Error("nothing is fetched")) },
    files: { findFile: async () => null, readFile: async () => null },
    speech: null,
    limits: {
      imageBytesMax: 1e6,
      fileBytesMax: 1e6,
      audioBytesMax: 1e6,
      requestBytesMax: 1e6,
      charactersMax: 1000,
      pdfPagesMax: 10,
      pdfTimeoutMs: 10_000,
    },
  });
  const read = (text: string, signal: AbortSignal): Promise<unknown> =>
    reader
      .forRequest(OWNER, { images: false, imageUrls: false, files: false, audioFormats: [] }, signal)
      .readFile({ type: "input_file", file_id: null, file_data: pdfUrl(pdfOf(text)) });
  const known = { type: "input_text", text: "File file:\nHello" };
  expect(await read("Hello", new AbortController().signal)).toEqual(known);
  const left = AbortSignal.abort(new Error("left")); // With this signal no PDF can be read.
  await expect(read("Other", left)).rejects.toThrow("left");
  expect(await read("Hello", left)).toEqual(known);
});
