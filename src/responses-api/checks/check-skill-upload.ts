import { isRecord } from "@antiphon/base/json/records.ts";
import type {
  CreateSkillCall,
  CreateSkillVersionCall,
  UploadedFile,
} from "@antiphon/contracts/responses-api/operations.ts";
import {
  invalidType,
  invalidValue,
  missingParameter,
  mutuallyExclusive,
  unknownParameter,
} from "../errors/parameter-errors.ts";
import { sizeError } from "../errors/validation/limit-error.ts";
import { typeWords } from "../errors/validation/validation-error.ts";
import { isUploadedFile } from "./check-file-upload.ts";

const PATH_CHARACTERS_MAX = 1024;

/** Checks the parts of a form with the files of a skill. Throws an `ApiError` for the first invalid part. */
export function checkSkillUpload(parts: unknown): CreateSkillCall["body"] {
  const { files, others } = takeFiles(parts);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownParameter(unknown, "");
  return { files };
}

/** The same, with the member `default`, which forms carry as text. */
export function checkSkillVersionUpload(parts: unknown): CreateSkillVersionCall["body"] {
  const { files, others } = takeFiles(parts);
  const { default: isDefault, ...unknownParts } = others;
  const [unknown] = Object.keys(unknownParts);
  if (unknown !== undefined) throw unknownParameter(unknown, "");
  if (isDefault === undefined) return { files };
  if (typeof isDefault !== "string") throw invalidType("default", "a boolean", typeWords(isDefault));
  if (isDefault !== "true" && isDefault !== "false") throw invalidValue("default", isDefault, ["true", "false"]);
  return { files, default: isDefault === "true" };
}

/** SDKs call the part `files` for one file and `files[]` for several. */
function takeFiles(parts: unknown): {
  readonly files: readonly UploadedFile[];
  readonly others: Readonly<Record<string, unknown>>;
} {
  const { files, "files[]": list, ...others } = isRecord(parts) ? parts : {};
  if (files !== undefined && list !== undefined) throw mutuallyExclusive("files", "files[]");
  const upload = files ?? list;
  if (upload === undefined) throw missingParameter("files");
  const uploads: readonly unknown[] = Array.isArray(upload) ? upload : [upload];
  return { files: uploads.map(checkedFile), others };
}

function checkedFile(file: unknown): UploadedFile {
  if (!isUploadedFile(file)) throw invalidType("files", "an array of files", typeWords(file));
  const { length } = file.path;
  if (length > PATH_CHARACTERS_MAX) throw sizeError("maxLength", "files", PATH_CHARACTERS_MAX, length);
  return file;
}
