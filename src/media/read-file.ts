import type { StoredInputFile, StoredInputText } from "../../generated/responses-api/types.ts";
import { assertNever } from "../base/assert.ts";
import { base64Form, decodeAs, decodeBase64, sha256 } from "../base/limits/long-data.ts";
import type { MediaError } from "../responses-api/ports.ts";
import { dataUrl, parseDataUrl } from "./data-url.ts";
import { FILE_DOWNLOAD } from "./download-errors.ts";
import { emptyFile, fileMissing, fileNotFound, fileTooLarge, invalidFileData, unsupportedFile } from "./file-errors.ts";
import type { LoadedParts } from "./loaded-parts.ts";
import type { MediaOptions } from "./media-options.ts";
import type { OfficeReader } from "./office/office-reader.ts";
import type { PdfReader } from "./pdf-reader.ts";
import { sniffType } from "./sniff-type.ts";
import type { TextCache } from "./text-cache.ts";

export interface FileTools extends MediaOptions {
  readonly pdfs: PdfReader;
  readonly office: OfficeReader;
  readonly texts: TextCache;
}

interface LoadedFile {
  readonly filename: string;
  /** The declared media type; empty if none is declared. */
  readonly mimeType: string;
  readonly charset: string | null;
  readonly bytes: Uint8Array;
}

const PDF = "application/pdf";
const SVG = "image/svg+xml";
const ZIP = "application/zip";
/** Documents of Office before 2007, and password-protected ones. */
const OLE = "application/x-ole-storage";
const READABLE = "PDFs, docx, xlsx and text of any kind can be";
const TEXT_TYPES = /^(?:text\/|application\/(?:json|[\w.-]+\+json|xml|[\w.-]+\+xml|yaml|toml|javascript|sql|csv)$)/;

/** Prepares a file for the model: the file itself if the model reads files, otherwise its text with its name. */
export async function readFile(
  tools: FileTools,
  loaded: LoadedParts,
  part: StoredInputFile,
): Promise<StoredInputFile | StoredInputText> {
  const file = await loadFile(tools, loaded, part);
  if (file.bytes.length === 0) throw emptyFile(file.filename);
  const real = sniffType(file.bytes);
  if (real !== PDF && file.mimeType === PDF)
    throw unsupportedFile(file.filename, "is declared as a PDF, but is not one");
  const text =
    real === null || real === SVG ? await decodeText(file.bytes, file.charset, TEXT_TYPES.test(file.mimeType)) : null;
  if (text !== null) return textPart(file, withinLimit(tools, file, text));
  if (tools.abilities.files) return filePart(part, file, real);
  switch (real) {
    case PDF:
      return textPart(file, await cachedText(tools, file, "pdf", () => pdfText(tools, file, loaded.signal)));
    case ZIP:
      return textPart(file, await cachedText(tools, file, "office", () => officeText(tools, file, loaded.signal)));
    case OLE:
      throw unsupportedFile(
        file.filename,
        `is protected by a password, or of a type that Office used before 2007. ${READABLE}`,
      );
    case null:
    default:
      throw unreadable(file);
  }
}

async function loadFile(tools: FileTools, loaded: LoadedParts, part: StoredInputFile): Promise<LoadedFile> {
  const bytesMax = tools.limits.fileBytesMax;
  if (part.file_data !== undefined) return inlineFile(part.file_data, part.filename, bytesMax);
  if (part.file_id !== null) return uploadedFile(loaded, part.file_id, part.filename, bytesMax);
  if (part.file_url === undefined) throw fileMissing();
  const plan = { member: "file_url", bytesMax, accept: null, codes: FILE_DOWNLOAD };
  const { bytes, mimeType, charset, filename } = await loaded.download(part.file_url, plan);
  return { filename: shownName(part.filename ?? filename), mimeType: mimeType ?? "", charset, bytes };
}

async function inlineFile(fileData: string, filename: string | undefined, bytesMax: number): Promise<LoadedFile> {
  const parsed = parseDataUrl(fileData);
  if (parsed === null || (await base64Form(parsed.base64)) === null) throw invalidFileData();
  const name = shownName(filename);
  const bytes = await decodeBase64(parsed.base64);
  if (bytes.length > bytesMax) throw fileTooLarge(name, `is larger than ${bytesMax} bytes`);
  return { filename: name, mimeType: parsed.mimeType, charset: parsed.charset, bytes };
}

async function uploadedFile(
  loaded: LoadedParts,
  fileId: string,
  filename: string | undefined,
  bytesMax: number,
): Promise<LoadedFile> {
  const file = await loaded.readUpload(fileId, (known) => {
    if (known.bytes > bytesMax) throw fileTooLarge(shownName(known.filename), `is larger than ${bytesMax} bytes`);
  });
  if (file === null) throw fileNotFound(fileId);
  const mimeType = file.mimeType.split(";")[0]?.trim().toLowerCase() ?? "";
  return { filename: shownName(filename ?? file.filename), mimeType, charset: null, bytes: file.bytes };
}

async function filePart(part: StoredInputFile, file: LoadedFile, real: string | null): Promise<StoredInputFile> {
  const { file_url: _url, ...kept } = part;
  const isContainer = real === ZIP || real === OLE; // Its name and declared type say what the container holds.
  const known = isContainer ? file.mimeType || real : (real ?? file.mimeType);
  const fileData = part.file_data ?? (await dataUrl(known || "application/octet-stream", file.bytes));
  return { ...kept, file_id: null, file_data: fileData, filename: file.filename };
}

function textPart({ filename }: LoadedFile, text: string): StoredInputText {
  return { type: "input_text", text: `File ${filename}:\n${text}` };
}

function withinLimit(tools: FileTools, { filename }: LoadedFile, text: string): string {
  const { charactersMax } = tools.limits;
  if (text.length > charactersMax) throw fileTooLarge(filename, `has more than ${charactersMax} characters`);
  return text;
}

function unreadable({ filename }: LoadedFile): MediaError {
  return unsupportedFile(filename, `is of a type that cannot be read. ${READABLE}`);
}

async function cachedText(
  tools: FileTools,
  file: LoadedFile,
  kind: "pdf" | "office",
  read: () => Promise<string>,
): Promise<string> {
  return await tools.texts.get(`${kind} ${await sha256(file.bytes)}`, read);
}

async function officeText({ office, limits }: FileTools, file: LoadedFile, signal: AbortSignal): Promise<string> {
  const { filename } = file;
  const outcome = await office.read(file.bytes, signal);
  switch (outcome.type) {
    case "text":
      if (outcome.text !== "") return outcome.text;
      throw unsupportedFile(filename, "holds no text, and the model of this server reads no files");
    case "other":
      throw unreadable(file);
    case "too_many_characters":
      throw fileTooLarge(filename, `has more than ${limits.charactersMax} characters`);
    case "too_costly":
      throw fileTooLarge(filename, "takes too much time or memory to read");
    case "broken":
      throw unsupportedFile(filename, "is an Office document or an archive that cannot be read");
    default:
      return assertNever(outcome);
  }
}

async function pdfText({ pdfs, limits }: FileTools, file: LoadedFile, signal: AbortSignal): Promise<string> {
  const { filename } = file;
  const outcome = await pdfs.read(file.bytes, signal);
  switch (outcome.type) {
    case "text":
      if (outcome.text !== "") return outcome.text;
      throw unsupportedFile(filename, "holds no text, only images of it, and the model of this server reads no files");
    case "too_many_pages":
      throw fileTooLarge(filename, `has ${outcome.pages} pages, and at most ${limits.pdfPagesMax} are read`);
    case "too_many_characters":
      throw fileTooLarge(filename, `has more than ${limits.charactersMax} characters`);
    case "too_costly":
      throw fileTooLarge(filename, "takes too much time or memory to read");
    case "encrypted":
      throw unsupportedFile(filename, "is protected by a password");
    case "unmapped":
      throw unsupportedFile(
        filename,
        "has fonts whose letters cannot be decoded, because they need character maps that are not in the file",
      );
    case "broken":
      throw unsupportedFile(filename, "is a PDF that cannot be read");
    default:
      return assertNever(outcome);
  }
}

function shownName(name: string | null | undefined): string {
  const shown = (name ?? "").replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return shown === "" ? "file" : shown.slice(0, 255);
}

/**
 * Decodes text by its byte order mark, by `charset`, or as UTF-8; as Windows-1252 only if `isText` says that the bytes
 * are text. Null if the bytes are not text.
 */
async function decodeText(bytes: Uint8Array, charset: string | null, isText: boolean): Promise<string | null> {
  const candidates = [markedCharset(bytes), charset, "utf-8", isText ? "windows-1252" : null];
  for (const candidate of candidates) {
    const text = candidate === null ? null : await decodeAs(bytes, candidate);
    if (text !== null && !text.includes("\0")) return text;
  }
  return null;
}

function markedCharset(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : null;
}
