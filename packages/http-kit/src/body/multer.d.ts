/** The part of @koa/multer 4 that we use; the package has no types. */
declare module "@koa/multer" {
  import type { Readable } from "node:stream";

  interface FilePart {
    readonly fieldname: string;
    readonly originalname: string;
    readonly mimetype: string;
  }

  /** A part and the result of `_handleFile`. */
  export interface StoredFile<Kept> extends FilePart {
    readonly kept: Kept;
  }

  export interface Storage<Kept> {
    _handleFile(
      source: FormSource,
      file: FilePart & { readonly stream: Readable },
      callback: (error: unknown, result?: { readonly kept: Kept }) => void,
    ): void;
    _removeFile(source: FormSource, file: FilePart, callback: (error: null) => void): void;
  }

  export interface FormSource extends Readable {
    headers: Readonly<Record<string, string | undefined>>;
  }

  export interface ParsedForm<Kept> {
    body?: Readonly<Record<string, unknown>>;
    files?: readonly StoredFile<Kept>[];
  }

  /** The part of Koa's context that multer uses. */
  export interface FormContext<Kept> {
    readonly req: FormSource;
    readonly res: null;
    /** Multer sets the parts of the form here. */
    readonly request: ParsedForm<Kept>;
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
    any(): (context: FormContext<Kept>, next: () => Promise<void>) => Promise<void>;
  }

  export default function multer<Kept>(options: {
    readonly storage: Storage<Kept>;
    readonly limits: FormLimits;
    readonly defParamCharset: string;
    /** Whether the name of a file keeps its folders. */
    readonly preservePath: boolean;
  }): Multer<Kept>;
}

/** The part of multer 2.5 that we use; the package has no types. */
declare module "multer" {
  export class MulterError extends Error {
    readonly code: string;
    readonly field?: string;
  }
}
