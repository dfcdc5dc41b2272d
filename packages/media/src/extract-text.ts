import { extname } from "node:path";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { VectorStoreFileError } from "@antiphon/contracts/responses-api/types.ts";
import {
  type DocumentReaders,
  type DocumentText,
  documentText,
  PDF,
  SVG,
  type TextLayout,
  tooLong,
} from "./document-text.ts";
import { HtmlReader } from "./html/html-reader.ts";
import { OfficeReader } from "./office/office-reader.ts";
import { PdfReader } from "./pdf/pdf-reader.ts";
import { decodeText, TEXT_TYPES } from "./plain-text.ts";
import type { CpuLimit } from "./read-in-thread.ts";
import { sniffType } from "./sniff-type.ts";

export interface ExtractionLimits {
  readonly charactersMax: number;
  readonly pdfPagesMax: number;
  /** Limit of reading one document, in milliseconds. */
  readonly timeoutMs: number;
  /** The CPU time limit. */
  readonly cpu: CpuLimit;
}

/** A file whose text is requested. */
export interface NamedBytes {
  readonly bytes: Uint8Array;
  readonly filename: string;
  /** As declared by the client; often wrong. */
  readonly mimeType: string;
}

/** `title`: what the document says its title is; null if it says nothing. */
export type ExtractedText =
  | { readonly type: "text"; readonly text: string; readonly layout: TextLayout; readonly title: string | null }
  | { readonly type: "failed"; readonly error: VectorStoreFileError };

/** Reads the text of files of every kind. Documents are read in threads, one at a time. */
export class TextExtractor {
  readonly #limits: ExtractionLimits;
  readonly #readers: DocumentReaders;
  readonly #pages: HtmlReader;

  constructor({ charactersMax, pdfPagesMax, timeoutMs, cpu }: ExtractionLimits) {
    const slots = new Semaphore(1);
    const limits = { charactersMax, pdfPagesMax, timeoutMs, cpu };
    this.#limits = limits;
    this.#readers = {
      pdfs: new PdfReader({ pagesMax: pdfPagesMax, charactersMax, timeoutMs, cpu }, slots),
      office: new OfficeReader({ charactersMax, timeoutMs, cpu }, slots),
      limits,
    };
    // One character more shows that a page is too long.
    const pageLimits = { charactersMax: charactersMax + 1, articleMs: timeoutMs, wholeMs: timeoutMs, cpu };
    this.#pages = new HtmlReader(pageLimits, slots);
  }

  /** Rejects with the signal's reason if the signal aborts. */
  async extract(file: NamedBytes, signal: AbortSignal): Promise<ExtractedText> {
    const kind = declaredKind(file);
    if (file.bytes.length === 0) return extractionFailure("broken", "is empty");
    const real = sniffType(file.bytes);
    if (kind === "pdf" && real !== PDF)
      return extractionFailure("broken", "is named or declared as a PDF, but is not one");
    const plain = real === null || real === SVG ? await decodeText(file.bytes, null, kind !== null) : null;
    if (plain === null)
      return this.#extractedText(await documentText(this.#readers, { real, bytes: file.bytes }, signal));
    if (kind === "html" || (kind === null && beginsAsPage(plain))) return await this.#readPage(file.bytes, signal);
    const layout = kind === "markdown" ? "marked" : kind === "table" ? "table" : "plain";
    return this.#extractedText({ type: "text", text: plain, layout, title: null });
  }

  async #readPage(bytes: Uint8Array, signal: AbortSignal): Promise<ExtractedText> {
    const page = await this.#pages.readMarked(bytes, signal);
    if (page.type === "text")
      return this.#extractedText({ ...page, layout: "marked", title: page.title.trim() || null });
    if (page.type === "broken") return extractionFailure("broken", "is a page that cannot be read");
    return extractionFailure("too_large", "takes too much time or memory to read");
  }

  #extractedText(outcome: DocumentText): ExtractedText {
    if (outcome.type !== "text") return extractionFailure(outcome.type, outcome.why);
    const { charactersMax } = this.#limits;
    if (outcome.text.length > charactersMax) return extractionFailure("too_large", tooLong(charactersMax).why);
    if (!/\S/.test(outcome.text)) return extractionFailure("broken", "holds no text");
    return { type: "text", text: outcome.text, layout: outcome.layout, title: outcome.title };
  }
}

type Unread = Exclude<DocumentText["type"], "text">;

function extractionFailure(type: Unread, why: string): ExtractedText {
  const isUnsupported = type === "unsupported" || type === "no_text";
  return {
    type: "failed",
    error: { code: isUnsupported ? "unsupported_file" : "invalid_file", message: `The file ${why}.` },
  };
}

type Kind = "markdown" | "html" | "pdf" | "table" | "text";

const EXTENSIONS: Readonly<Record<string, Kind>> = {
  ...allAre("markdown", [".md", ".markdown", ".mdown", ".mkd", ".mdx"]),
  ...allAre("html", [".html", ".htm", ".xhtml"]),
  ...allAre("pdf", [".pdf"]),
  ...allAre("table", [".csv", ".tsv", ".tab"]),
  ...allAre("text", [".txt", ".text", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".ini"]),
  ...allAre("text", [".log", ".tex", ".rst", ".srt", ".vtt", ".sql", ".sh", ".css", ".c", ".h", ".cpp", ".cs", ".go"]),
  ...allAre("text", [
    ".java",
    ".js",
    ".mjs",
    ".ts",
    ".tsx",
    ".jsx",
    ".php",
    ".pl",
    ".py",
    ".r",
    ".rb",
    ".rs",
    ".swift",
  ]),
};

function allAre(kind: Kind, extensions: readonly string[]): Readonly<Record<string, Kind>> {
  return Object.fromEntries(extensions.map((extension) => [extension, kind]));
}

/** The kind by the name, then by the declared type; null if neither decides. */
function declaredKind({ filename, mimeType }: NamedBytes): Kind | null {
  const extension = extname(filename).toLowerCase();
  const kind = Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension] : undefined;
  if (kind !== undefined) return kind;
  const mediaType = mimeType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (mediaType === PDF) return "pdf";
  if (mediaType === "text/html" || mediaType === "application/xhtml+xml") return "html";
  if (mediaType === "text/markdown") return "markdown";
  if (mediaType === "text/csv" || mediaType === "text/tab-separated-values") return "table";
  return TEXT_TYPES.test(mediaType) ? "text" : null;
}

function beginsAsPage(text: string): boolean {
  return /^\s*<(?:!doctype html|html)[\s>]/i.test(text.slice(0, 1024));
}
