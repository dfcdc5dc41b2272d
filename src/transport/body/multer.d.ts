/** The part of multer 2.5 that is used; it comes without types. */
declare module "multer" {
  import type { Readable } from "node:stream";

  interface FilePart {
    readonly fieldname: string;
    readonly originalname: string;
    readonly mimetype: string;
  }

  /** A part and what the storage said of it. */
  export interface StoredFile<Kept> extends FilePart {
    readonly kept: Kept;
  }

  export interface Storage<Kept> {
    _handleFile(
      source: FormSource<Kept>,
      file: FilePart & { readonly stream: Readable },
      done: (error: unknown, stored?: { readonly kept: Kept }) => void,
    ): void;
    _removeFile(source: FormSource<Kept>, file: FilePart, done: (error: null) => void): void;
  }

  export interface FormSource<Kept> extends Readable {
    headers: Readonly<Record<string, string | undefined>>;
    body?: Readonly<Record<string, unknown>>;
    files?: readonly StoredFile<Kept>[];
  }

  export interface FormLimits {
    readonly fileSize: number;
    readonly files: number;
    readonly fields: number;
    readonly parts: number;
    readonly fieldSize: number;
    readonly fieldNestingDepth: number;
    readonly fieldArrayIndexLimit: number;
  }

  export interface Multer<Kept> {
    any(): (source: FormSource<Kept>, response: null, next: (error?: unknown) => void) => void;
  }

  export class MulterError extends Error {
    readonly code: string;
    readonly field?: string;
  }

  export default function multer<Kept>(options: {
    readonly storage: Storage<Kept>;
    readonly limits: FormLimits;
    readonly defParamCharset: string;
  }): Multer<Kept>;
}
