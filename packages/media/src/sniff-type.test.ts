import { expect, test } from "vitest";
import { sniffBase64, sniffType } from "./sniff-type.ts";

const BEGINNINGS: readonly (readonly [beginning: string, mimeType: string | null])[] = [
  ["\u0089PNG\r\n\u001a\n....", "image/png"],
  ["\u00ff\u00d8\u00ff\u00e0", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a", "image/gif"],
  ["RIFF????WEBPVP8 ", "image/webp"],
  ["RIFF????WAVEfmt ", "audio/wav"],
  ["BM1234\0\0\0\0", "image/bmp"],
  ["II*\0", "image/tiff"],
  ["\0\0\0\u0018ftypheic", "image/heic"],
  ["\0\0\0\u0018ftypavif", "image/avif"],
  ["\0\0\0\u0018ftypM4A ", "audio/mp4"],
  ["\0\0\0\u0018ftypisom", "video/mp4"],
  ["OggS\0", "audio/ogg"],
  ["ID3\u0004", "audio/mpeg"],
  ["\u00ff\u00fb\u0090", "audio/mpeg"],
  ["fLaC", "audio/flac"],
  ["PK\u0003\u0004", "application/zip"],
  ["\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1", "application/x-ole-storage"],
  ["%PDF-1.7", "application/pdf"],
  [`${" ".repeat(1000)}%PDF-1.7`, "application/pdf"],
  [`${" ".repeat(2000)}%PDF-1.7`, null],
  ["<svg xmlns='x'>", "image/svg+xml"],
  ["<?xml version='1.0'?>\n<!-- a -->\n<svg>", "image/svg+xml"],
  ["<svgx>", null],
  ["GIF", null],
  ["BM is a text", null],
  ["", null],
];

test.each(BEGINNINGS)("%j has the type %s", (beginning, mimeType) => {
  const bytes = Buffer.from(beginning, "latin1");
  expect(sniffType(bytes)).toBe(mimeType);
  expect(sniffBase64(bytes.toString("base64"))).toBe(mimeType);
});
