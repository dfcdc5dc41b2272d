import { base64Form, decodeBase64, sha256 } from "@antiphon/base/limits/long-data.ts";
import type { StoredInputFile, StoredInputText } from "@antiphon/contracts/responses-api/types.ts";
import type { MediaError } from "@antiphon/domain/media.ts";
import { dataUrl, parseDataUrl } from "./data-url.ts";
import { type DocumentText, documentText, OLE, PDF, SVG, tooLong, ZIP } from "./document-text.ts";
import { FILE_DOWNLOAD } from "./download-errors.ts";
import { emptyFile, fileMissing, fileNotFound, fileTooLarge, invalidFileData, unsupportedFile } from "./file-errors.ts";
import type { LoadedParts } from "./loaded-parts.ts";
import type { RequestOptions } from "./media-options.ts";
import type { OfficeReader } from "./office/office-reader.ts";
import type { PdfReader } from "./pdf/pdf-reader.ts";
import { decodeText, TEXT_TYPES } from "./plain-text.ts";
import { sniffType } from "./sniff-type.ts";
import type { TextCache } from "./text-cache.ts";

export interface FileTools extends RequestOptions {
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

/** Prepares a file for the model: the file itself if the model reads files, otherwise its text with its name. */
export async function readFile(
  tools: FileTools,
  parts: LoadedParts,
  part: StoredInputFile,
): Promise<StoredInputFile | StoredInputText> {
  const file = await loadFile(tools, parts, part);
  if (file.bytes.length === 0) throw emptyFile(file.filename);
  const real = sniffType(file.bytes);
  if (real !== PDF && file.mimeType === PDF)
    throw unsupportedFile(file.filename, "is declared as a PDF, but is not one");
  const text =
    real === null || real === SVG ? await decodeText(file.bytes, file.charset, TEXT_TYPES.test(file.mimeType)) : null;
  if (text !== null) return textPart(file, withinLimit(tools, file, text));
  if (tools.abilities.files) return filePart(part, file, real);
  return textPart(file, await fileText(tools, file, real, parts.signal));
}

async function loadFile(tools: FileTools, parts: LoadedParts, part: StoredInputFile): Promise<LoadedFile> {
  const bytesMax = tools.limits.fileBytesMax;
  if (part.file_data !== undefined) return inlineFile(part.file_data, part.filename, bytesMax);
  if (part.file_id !== null) return uploadedFile(parts, part.file_id, part.filename, bytesMax);
  if (part.file_url === undefined) throw fileMissing();
  const plan = { member: "file_url", bytesMax, accept: null, codes: FILE_DOWNLOAD };
  const { bytes, mimeType, charset, filename } = await parts.download(part.file_url, plan);
  return { filename: shownName(part.filename ?? filename), mimeType: mimeType ?? "", charset, bytes };
}

async function inlineFile(fileData: string, filename: string | undefined, bytesMax: number): Promise<LoadedFile> {
  const dataParts = parseDataUrl(fileData);
  if (dataParts === null || (await base64Form(dataParts.base64)) === null) throw invalidFileData();
  const name = shownName(filename);
  const bytes = await decodeBase64(dataParts.base64);
  if (bytes.length > bytesMax) throw fileTooLarge(name, `is larger than ${bytesMax} bytes`);
  return { filename: name, mimeType: dataParts.mimeType, charset: dataParts.charset, bytes };
}

async function uploadedFile(
  parts: LoadedParts,
  fileId: string,
  filename: string | undefined,
  bytesMax: number,
): Promise<LoadedFile> {
  const file = await parts.readUpload(fileId, (upload) => {
    if (upload.bytes > bytesMax) throw fileTooLarge(shownName(upload.filename), `is larger than ${bytesMax} bytes`);
  });
  if (file === null) throw fileNotFound(fileId);
  const mimeType = file.mimeType.split(";")[0]?.trim().toLowerCase() ?? "";
  return { filename: shownName(filename ?? file.filename), mimeType, charset: null, bytes: file.bytes };
}

async function filePart(part: StoredInputFile, file: LoadedFile, real: string | null): Promise<StoredInputFile> {
  const { file_url: _url, ...rest } = part;
  const isContainer = real === ZIP || real === OLE; // Its name and declared type determine the container's content.
  const mimeType = isContainer ? file.mimeType || real : (real ?? file.mimeType);
  const fileData = part.file_data ?? (await dataUrl(mimeType || "application/octet-stream", file.bytes));
  return { ...rest, file_id: null, file_data: fileData, filename: file.filename };
}

function textPart({ filename }: LoadedFile, text: string): StoredInputText {
  return { type: "input_text", text: `File ${filename}:\n${text}` };
}

function withinLimit(tools: FileTools, { filename }: LoadedFile, text: string): string {
  const { charactersMax } = tools.limits;
  if (text.length > charactersMax) throw fileTooLarge(filename, tooLong(charactersMax).why);
  return text;
}

/** The text of a document. Documents that need a thread are cached. */
async function fileText(tools: FileTools, file: LoadedFile, real: string | null, signal: AbortSignal): Promise<string> {
  const read = async (): Promise<string> => {
    const outcome = await documentText(tools, { real, bytes: file.bytes }, signal);
    if (outcome.type !== "text") throw fileRefusal(file, outcome);
    return outcome.text;
  };
  if (real !== PDF && real !== ZIP) return await read();
  return await tools.texts.get(`${real === PDF ? "pdf" : "office"} ${await sha256(file.bytes)}`, read);
}

function fileRefusal({ filename }: LoadedFile, { type, why }: Exclude<DocumentText, { type: "text" }>): MediaError {
  if (type === "too_large") return fileTooLarge(filename, why);
  const isModels = type === "no_text"; // A model with vision could see the pictures.
  return unsupportedFile(filename, isModels ? `${why}, and the model of this server reads no files` : why);
}

function shownName(name: string | null | undefined): string {
  const text = (name ?? "").replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return text === "" ? "file" : text.slice(0, 255);
}
