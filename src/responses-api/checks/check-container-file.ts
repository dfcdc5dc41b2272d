import { isRecord } from "@antiphon/base/json/records.ts";
import type { CreateContainerFileCall } from "@antiphon/contracts/responses-api/operations.ts";
import { validateCreateContainerFileRequest } from "@antiphon/contracts/responses-api/validators.js";
import { invalidType, mutuallyExclusive, unknownParameter } from "../errors/parameter-errors.ts";
import { typeWords, validationError } from "../errors/validation/validation-error.ts";
import { checkFilename, isUploadedFile } from "./check-file-upload.ts";

/** Checks the parts of a form, or a JSON body: they have a file or the id of one. Throws an `ApiError`. */
export function checkContainerFile(body: unknown): CreateContainerFileCall["body"] {
  if (!isRecord(body) || body["file"] === undefined) {
    if (validateCreateContainerFileRequest(body)) return body;
    throw validationError(validateCreateContainerFileRequest.errors ?? [], "");
  }
  const { file, file_id: id, ...others } = body;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownParameter(unknown, "");
  if (id !== undefined) throw mutuallyExclusive("file", "file_id");
  if (!isUploadedFile(file)) throw invalidType("file", "a file", typeWords(file));
  checkFilename(file);
  return { file };
}
