import { text } from "node:stream/consumers";
import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { CreateFileCall, UploadedFile } from "@antiphon/contracts/responses-api/operations.ts";
import { validateFileExpiresAfter, validateFilePurpose } from "@antiphon/contracts/responses-api/validators.js";
import { fileEmpty } from "../errors/file-errors.ts";
import { invalidType, missingParameter, unknownParameter } from "../errors/parameter-errors.ts";
import { sizeError } from "../errors/validation/limit-error.ts";
import { typeWords, validationError } from "../errors/validation/validation-error.ts";

type FileUpload = CreateFileCall["body"];

const FILENAME_CHARACTERS_MAX = 1024;
const JSON_PART_BYTES_MAX = 4096;

/** Checks the parts of an upload. Throws the reference's error for the first invalid part. */
export async function checkFileUpload(parts: unknown): Promise<FileUpload> {
  const { file, purpose, expires_after: expiresAfter, ...others } = isRecord(parts) ? parts : {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownParameter(unknown, "");
  const checkedUpload = { file: checkedFile(file), purpose: checkedPurpose(purpose) };
  if (expiresAfter === undefined) return checkedUpload;
  return { ...checkedUpload, expires_after: checkedExpiry(await membersOf(expiresAfter)) };
}

function checkedFile(file: unknown): UploadedFile {
  if (file === undefined) throw missingParameter("file");
  if (!isUploadedFile(file)) throw invalidType("file", "a file", typeWords(file));
  checkFilename(file);
  if (file.size === 0) throw fileEmpty();
  return file;
}

/** Throws an `ApiError` if the name of a file is too long. */
export function checkFilename({ filename: { length } }: Pick<UploadedFile, "filename">): void {
  if (length > FILENAME_CHARACTERS_MAX) throw sizeError("maxLength", "file.filename", FILENAME_CHARACTERS_MAX, length);
}

function checkedPurpose(purpose: unknown): FileUpload["purpose"] {
  if (purpose === undefined) throw missingParameter("purpose");
  if (validateFilePurpose(purpose)) return purpose;
  throw validationError(validateFilePurpose.errors ?? [], "purpose");
}

/**
 * Reads `expires_after` from an object that transport built of bracketed fields, or from one JSON part. Browsers send a
 * typed JSON part as a small file.
 */
async function membersOf(part: unknown): Promise<unknown> {
  if (!isUploadedFile(part)) return typeof part === "string" ? jsonOrText(part) : part;
  return part.size > JSON_PART_BYTES_MAX ? null : jsonOrText(await text(part.read()));
}

/** Forms carry text only, so the number of seconds is parsed from text. */
function checkedExpiry(value: unknown): NonNullable<FileUpload["expires_after"]> {
  const seconds = isRecord(value) ? value["seconds"] : undefined;
  const isNumber = typeof seconds === "string" && /^-?\d{1,15}$/.test(seconds);
  const expiry = isRecord(value) ? { ...value, ...(isNumber ? { seconds: Number(seconds) } : {}) } : value;
  if (validateFileExpiresAfter(expiry)) return expiry;
  throw validationError(validateFileExpiresAfter.errors ?? [], "expires_after");
}

/** Transport makes an `UploadedFile` of every part that has a file name. */
export function isUploadedFile(part: unknown): part is UploadedFile {
  return isRecord(part) && typeof part["read"] === "function";
}
