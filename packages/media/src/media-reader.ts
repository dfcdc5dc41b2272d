import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { MediaReader } from "@antiphon/domain/media.ts";
import { LoadedParts } from "./loaded-parts.ts";
import type { MediaOptions } from "./media-options.ts";
import { OfficeReader } from "./office/office-reader.ts";
import { PdfReader } from "./pdf/pdf-reader.ts";
import { readAudio } from "./read-audio.ts";
import { readFile } from "./read-file.ts";
import { readImage } from "./read-image.ts";
import { TextCache } from "./text-cache.ts";

/** Limit of the cached texts of files and recordings. The cache spares a chain from reading them again in each turn. */
const CACHED_CHARACTERS_MAX = 16 * 1024 * 1024;
/** How many documents are read at the same time. */
const DOCUMENTS_AT_ONCE_MAX = 2;

/** Implements the port `MediaReader`: prepares images, files and recordings for what the model accepts. */
export function createMediaReader(options: MediaOptions): MediaReader {
  const { charactersMax, pdfPagesMax, pdfTimeoutMs } = options.limits;
  const slots = new Semaphore(DOCUMENTS_AT_ONCE_MAX);
  const pdfs = new PdfReader({ pagesMax: pdfPagesMax, charactersMax, timeoutMs: pdfTimeoutMs }, slots);
  const office = new OfficeReader({ charactersMax, timeoutMs: pdfTimeoutMs }, slots);
  const tools = { ...options, pdfs, office, texts: new TextCache(CACHED_CHARACTERS_MAX) };
  return {
    forRequest(owner, abilities, signal) {
      const parts = new LoadedParts(options, owner, signal);
      const able = { ...tools, abilities };
      return {
        readImage: (image) => readImage(able, parts, image),
        readFile: (file) => readFile(able, parts, file),
        readAudio: (audio, isAlone) => readAudio(able, audio, isAlone, signal),
      };
    },
  };
}
