import { assertNever } from "@antiphon/base/assert.ts";
import type { OfficeReader } from "./office/office-reader.ts";
import type { PdfReader } from "./pdf/pdf-reader.ts";

/** Media types from `sniffType` that distinguish files. */
export const PDF = "application/pdf";
export const SVG = "image/svg+xml";
export const ZIP = "application/zip";
/** Documents of Office before 2007, and password-protected ones. */
export const OLE = "application/x-ole-storage";

const READABLE = "PDFs, docx, pptx, xlsx, odt, epub and text of any kind can be";

export interface DocumentReaders {
  readonly pdfs: Pick<PdfReader, "read">;
  readonly office: Pick<OfficeReader, "read">;
  /** The readers' limits, for error sentences. */
  readonly limits: { readonly charactersMax: number; readonly pdfPagesMax: number };
}

/**
 * How a text shows its parts. `marked`: `#` before headings and bars between the cells of tables, as in Markdown.
 * `sheets`: headings likewise, and below them rows with tabs. `table`: rows with commas or other signs between cells.
 */
export type TextLayout = "plain" | "marked" | "sheets" | "table";

/**
 * The text of a document and the title that it names, or why there is none: `why` is the predicate of a sentence about
 * the file.
 */
export type DocumentText =
  | { readonly type: "text"; readonly text: string; readonly layout: TextLayout; readonly title: string | null }
  | { readonly type: "no_text" | "unsupported" | "broken" | "too_large"; readonly why: string };

type Unread = Exclude<DocumentText, { type: "text" }>;

/** Reads a file of this media type that is not text. Rejects with the signal's reason if the signal aborts. */
export async function documentText(
  readers: DocumentReaders,
  { real, bytes }: { readonly real: string | null; readonly bytes: Uint8Array },
  signal: AbortSignal,
): Promise<DocumentText> {
  switch (real) {
    case PDF:
      return await pdfText(readers, bytes, signal);
    case ZIP:
      return await officeText(readers, bytes, signal);
    case OLE: {
      const why = `is protected by a password, or of a type that Office used before 2007. ${READABLE}`;
      return { type: "unsupported", why };
    }
    case null:
    default:
      return UNREADABLE;
  }
}

const UNREADABLE: Unread = { type: "unsupported", why: `is of a type that cannot be read. ${READABLE}` };
const TOO_COSTLY: Unread = { type: "too_large", why: "takes too much time or memory to read" };

export function tooLong(charactersMax: number): Unread {
  return { type: "too_large", why: `has more than ${charactersMax} characters` };
}

async function officeText(
  { office, limits }: DocumentReaders,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentText> {
  const outcome = await office.read(bytes, signal);
  switch (outcome.type) {
    case "text":
      return outcome.text === ""
        ? { type: "no_text", why: "holds no text" }
        : { type: "text", text: outcome.text, layout: outcome.isWorkbook ? "sheets" : "marked", title: null };
    case "other":
      return UNREADABLE;
    case "too_many_characters":
      return tooLong(limits.charactersMax);
    case "too_costly":
      return TOO_COSTLY;
    case "broken":
      return { type: "broken", why: "is an Office document or an archive that cannot be read" };
    default:
      return assertNever(outcome);
  }
}

async function pdfText(
  { pdfs, limits }: DocumentReaders,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentText> {
  const outcome = await pdfs.read(bytes, signal);
  switch (outcome.type) {
    case "text":
      return outcome.text === ""
        ? { type: "no_text", why: "holds no text, only images of it" }
        : { type: "text", text: outcome.text, layout: outcome.isMarked ? "marked" : "plain", title: outcome.title };
    case "too_many_pages":
      return { type: "too_large", why: `has ${outcome.pages} pages, and at most ${limits.pdfPagesMax} are read` };
    case "too_many_characters":
      return tooLong(limits.charactersMax);
    case "too_costly":
      return TOO_COSTLY;
    case "encrypted":
      return { type: "unsupported", why: "is protected by a password" };
    case "unmapped": {
      const why =
        "has fonts whose letters cannot be decoded, because they need character maps that are not in the file";
      return { type: "unsupported", why };
    }
    case "broken":
      return { type: "broken", why: "is a PDF that cannot be read" };
    default:
      return assertNever(outcome);
  }
}
