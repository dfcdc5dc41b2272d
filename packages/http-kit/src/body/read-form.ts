import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { callbackify } from "node:util";
import { ApiError } from "@antiphon/base/api-error.ts";
import multer, { type FormSource, type ParsedForm, type Storage, type StoredFile } from "@koa/multer";
import { MulterError } from "multer";
import type { Faults } from "../faults.ts";
import type { UploadedFile } from "../handler.ts";
import type { BodyTimeouts } from "./body-chunks.ts";
import { type BodyFaults, decodeBody } from "./body-chunks.ts";
import { type SpooledUpload, SpoolFault, type UploadSpool } from "./upload-spool.ts";

export interface FormLimits extends BodyTimeouts {
  readonly fileBytesMax: number;
}

type FormFaults = BodyFaults & Pick<Faults, "fileTooLarge" | "invalidForm">;

/** Of a form; a skill has up to 500 files. */
const FILES_MAX = 500;
const FIELDS_MAX = 64;
const FIELD_BYTES_MAX = 1024 * 1024;
/** `a[b]`, but not `a[b][c]`. */
const FIELD_NESTING_MAX = 1;

/** Allowed in addition to the largest file, for the fields and the boundaries between the parts. */
const FORM_OVERHEAD_BYTES = 1024 * 1024;

/** A form that has not been read yet, and the spool for its files. */
export interface IncomingForm {
  readonly request: IncomingMessage;
  readonly spool: UploadSpool;
}

type Parsed = ParsedForm<SpooledUpload>;

/** The parts of a form by name: strings and `UploadedFile`s. A repeated name makes a list. */
export async function readForm(
  { request, spool }: IncomingForm,
  limits: FormLimits,
  faults: FormFaults,
): Promise<Record<string, unknown>> {
  const bytesMax = limits.fileBytesMax + FORM_OVERHEAD_BYTES;
  // Clients are told the limit without the overhead.
  const bodyFaults = { ...faults, bodyTooLarge: () => faults.fileTooLarge(limits.fileBytesMax) };
  const body = admitBytes(decodeBody(request, { ...limits, bytesMax }, bodyFaults), spool, faults);
  const source: FormSource = Object.assign(Readable.from(body, { objectMode: false }), {
    headers: { "content-type": request.headers["content-type"], "transfer-encoding": "chunked" },
  });
  const form = await parse(source, storageOf(spool), limits.fileBytesMax).catch((error: unknown) => {
    throw formFault(spool.fault ?? error, limits, faults);
  });
  return formParts(form);
}

async function* admitBytes(
  body: AsyncIterable<Uint8Array>,
  spool: UploadSpool,
  faults: FormFaults,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    if (!spool.admit(chunk.length)) throw faults.noRoomForBody();
    yield chunk;
  }
}

/** Multer reads `source` in place of Koa's request, because only `source` is decompressed and limited. */
async function parse(source: FormSource, storage: Storage<SpooledUpload>, fileBytesMax: number): Promise<Parsed> {
  const form = multer({
    storage,
    limits: {
      fileSize: fileBytesMax,
      files: FILES_MAX,
      fields: FIELDS_MAX,
      parts: FILES_MAX + FIELDS_MAX,
      fieldSize: FIELD_BYTES_MAX,
      fieldNestingDepth: FIELD_NESTING_MAX,
      fieldArrayIndexLimit: FIELDS_MAX,
    },
    defParamCharset: "utf8",
    preservePath: true,
  });
  const request: Parsed = {};
  await form.any()({ req: source, res: null, request }, async () => {});
  return request;
}

/** A multer storage that puts files into the spool. The owner of the spool releases them, also if the form fails. */
function storageOf(spool: UploadSpool): Storage<SpooledUpload> {
  const keep = callbackify(async (content: Readable) => ({ kept: await spool.keep(content) }));
  return {
    _handleFile: (_source, { stream }, callback) => keep(stream, callback),
    _removeFile: (_source, _file, callback) => callback(null),
  };
}

function formFault(error: unknown, limits: FormLimits, faults: FormFaults): Error {
  // A SpoolFault is an internal error, for the log.
  if (error instanceof ApiError || error instanceof SpoolFault) return error;
  if (!(error instanceof MulterError))
    return faults.invalidForm(error instanceof Error ? error.message : "broken", null);
  if (error.code === "LIMIT_FILE_SIZE") return faults.fileTooLarge(limits.fileBytesMax);
  return faults.invalidForm(error.message, error.field ?? null);
}

function formParts(form: Parsed): Record<string, unknown> {
  const parts = new Map<string, unknown>(Object.entries(form.body ?? {}));
  for (const file of form.files ?? []) {
    const before = parts.get(file.fieldname);
    const upload = uploadedFile(file);
    if (before === undefined) parts.set(file.fieldname, upload);
    else parts.set(file.fieldname, [...(Array.isArray(before) ? before : [before]), upload]);
  }
  return Object.fromEntries(parts);
}

function uploadedFile({ originalname, mimetype, kept }: StoredFile<SpooledUpload>): UploadedFile {
  const filename = originalname.slice(Math.max(originalname.lastIndexOf("/"), originalname.lastIndexOf("\\")) + 1);
  return { filename, path: originalname, mimeType: mimetype, size: kept.size, read: () => kept.read() };
}
