/** The part of multer 2.5 that is used; it comes without types. */
declare module "multer" {
  import type { Readable } from "node:stream";

  export interface StoredFile {
    readonly fieldname: string;
    readonly originalname: string;
    readonly mimetype: string;
    readonly buffer: Buffer;
    readonly size: number;
  }

  export interface FormSource extends Readable {
    headers: Readonly<Record<string, string | undefined>>;
    body?: Readonly<Record<string, unknown>>;
    files?: readonly StoredFile[];
  }

  export interface FormLimits {
    readonly fileSize: number;
    readonly files: number;
    readonly fields: number;
    readonly parts: number;
    readonly fieldSize: number;
    readonly fieldNestingDepth: number;
  }

  export interface Multer {
    any(): (source: FormSource, response: null, next: (error?: unknown) => void) => void;
  }

  export class MulterError extends Error {
    readonly code: string;
    readonly field?: string;
  }

  export function memoryStorage(): object;

  export default function multer(options: {
    readonly storage: object;
    readonly limits: FormLimits;
    readonly defParamCharset: string;
  }): Multer;
}
