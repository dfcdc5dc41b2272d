import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import multer, { type FormSource, MulterError, memoryStorage, type StoredFile } from "multer";
import type { ApiError } from "../base/api-error.ts";
import { collectBody } from "./collect-body.ts";
import type { Faults } from "./faults.ts";
import type { UploadedFile } from "./handler.ts";

export interface FormLimits {
  readonly fileBytesMax: number;
  readonly idleTimeoutMs: number;
}

type FormFaults = Pick<Faults, "bodyTooLarge" | "bodyTimedOut" | "unsupportedEncoding" | "invalidJson" | "invalidForm">;

const PARTS_MAX = 64;
const FILES_MAX = 8;
const FIELD_BYTES_MAX = 1024 * 1024;

/** Room for the fields and the lines between the parts, beside the largest file. */
const FORM_OVERHEAD_BYTES = 1024 * 1024;

/**
 * The parts of a form by name, texts and files; a name that comes twice makes a list. The body is collected first and parsed then, because
 * multer reads a form it has refused to its end, however long that takes.
 */
export async function readForm(
  request: IncomingMessage,
  limits: FormLimits,
  faults: FormFaults,
): Promise<Record<string, unknown>> {
  const bytesMax = limits.fileBytesMax + FORM_OVERHEAD_BYTES;
  const bytes = await collectBody(request, { bytesMax, idleTimeoutMs: limits.idleTimeoutMs }, faults);
  const source = formSource(bytes, request.headers["content-type"]);
  try {
    await parse(source, limits.fileBytesMax);
  } catch (error) {
    throw formFault(error, limits, faults);
  }
  return partsOf(source);
}

function formSource(bytes: Buffer, contentType: string | undefined): FormSource {
  const headers = { "content-type": contentType, "content-length": String(bytes.length) };
  return Object.assign(Readable.from([bytes], { objectMode: false }), { headers });
}

function parse(source: FormSource, fileBytesMax: number): Promise<void> {
  const form = multer({
    storage: memoryStorage(),
    limits: {
      fileSize: fileBytesMax,
      files: FILES_MAX,
      fields: PARTS_MAX,
      parts: PARTS_MAX,
      fieldSize: FIELD_BYTES_MAX,
      fieldNestingDepth: 0,
    },
    defParamCharset: "utf8",
  });
  return new Promise((resolve, reject) => {
    form.any()(source, null, (error) => (error === undefined ? resolve() : reject(error)));
  });
}

function formFault(error: unknown, limits: FormLimits, faults: FormFaults): ApiError {
  if (!(error instanceof MulterError))
    return faults.invalidForm(error instanceof Error ? error.message : "broken", null);
  if (error.code === "LIMIT_FILE_SIZE") return faults.bodyTooLarge(limits.fileBytesMax);
  return faults.invalidForm(error.message, error.field ?? null);
}

function partsOf(source: FormSource): Record<string, unknown> {
  const parts = new Map<string, unknown>(Object.entries(source.body ?? {}));
  for (const file of source.files ?? []) {
    const before = parts.get(file.fieldname);
    const uploaded = uploadedFile(file);
    if (before === undefined) parts.set(file.fieldname, uploaded);
    else parts.set(file.fieldname, [...(Array.isArray(before) ? before : [before]), uploaded]);
  }
  return Object.fromEntries(parts);
}

function uploadedFile({ originalname, mimetype, buffer, size }: StoredFile): UploadedFile {
  return { filename: originalname, mimeType: mimetype, bytes: buffer, size };
}
