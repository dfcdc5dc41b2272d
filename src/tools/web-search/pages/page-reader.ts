import { decodeAs } from "@antiphon/base/limits/long-data.ts";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { Egress, Fetched } from "@antiphon/egress/egress.ts";
import { EgressError } from "@antiphon/egress/egress-error.ts";
import { type DocumentReaders, documentText, OLE, PDF, ZIP } from "@antiphon/media/document-text.ts";
import { HtmlReader } from "@antiphon/media/html/html-reader.ts";
import { OfficeReader } from "@antiphon/media/office/office-reader.ts";
import { PdfReader } from "@antiphon/media/pdf/pdf-reader.ts";
import { sniffType } from "@antiphon/media/sniff-type.ts";
import { LRUCache } from "lru-cache";

/** A page in the model's form. */
export interface Page {
  readonly url: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly links: readonly PageLink[];
}

export interface PageLink {
  readonly text: string;
  /** Absolute. */
  readonly url: string;
}

/** The page could not be read. The message is a whole sentence for the model. */
export class PageFailed extends Error {
  override readonly name = "PageFailed";
}

const PAGE_BYTES_MAX = 5 * 1024 * 1024;
const PAGE_CHARACTERS_MAX = 2_000_000;
const LINE_CHARACTERS_MAX = 500;
const READING_AT_ONCE_MAX = 2;
const CACHE_CHARACTERS_MAX = 32 * 1024 * 1024;
const CACHE_MS = 10 * 60_000;
const PDF_PAGES_MAX = 500;
const PDF_MARK = "%PDF-";
const READ_MS_MAX = 10_000;
const ARTICLE_MS_MAX = 3000;

/** A page with scripts and less text than this is rendered by its scripts. */
const TEXT_CHARACTERS_MIN = 200;
const SCRIPT = /<script\b/i;
const NEEDS_SCRIPTS =
  "[The page makes its text with JavaScript, which is not run here. What it shows without is above.]";

const HTML_TYPES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);
const ACCEPTED = [
  "text/*",
  "application/xhtml+xml",
  "application/json",
  "application/xml",
  "application/rss+xml",
  "application/atom+xml",
  "application/ld+json",
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.oasis.opendocument.text",
  "application/epub+zip",
  "application/msword",
  "application/octet-stream", // Many servers send documents as it. Their first bytes tell what they are.
];

/** Opens public web pages through the guard. Calls contain no client data, so all clients share one cache. */
export class PageReader {
  readonly #egress: Egress;
  readonly #html: HtmlReader;
  readonly #documents: DocumentReaders;
  readonly #pages = new LRUCache<string, Page>({
    maxSize: CACHE_CHARACTERS_MAX,
    ttl: CACHE_MS,
    sizeCalculation: ({ lines }) => lines.reduce((sum, line) => sum + line.length + 1, 1),
  });

  constructor(egress: Egress) {
    this.#egress = egress;
    const slots = new Semaphore(READING_AT_ONCE_MAX);
    const charactersMax = PAGE_CHARACTERS_MAX;
    this.#html = new HtmlReader({ charactersMax, articleMs: ARTICLE_MS_MAX, wholeMs: READ_MS_MAX }, slots);
    this.#documents = {
      pdfs: new PdfReader({ charactersMax, timeoutMs: READ_MS_MAX, pagesMax: PDF_PAGES_MAX }, slots),
      office: new OfficeReader({ charactersMax, timeoutMs: READ_MS_MAX }, slots),
      limits: { charactersMax, pdfPagesMax: PDF_PAGES_MAX },
    };
  }

  /** The page if it was opened within the last ten minutes. */
  findKnown(url: string): Page | null {
    return this.#pages.get(url) ?? null;
  }

  /** Rejects with `PageFailed`, or with the reason of `signal`. `caller`: for fair sharing of name lookups. */
  async open(url: string, caller: string, signal: AbortSignal): Promise<Page> {
    const knownPage = this.findKnown(url);
    if (knownPage !== null) return knownPage;
    const page = await this.#read(url, await this.#fetch(url, caller, signal), signal);
    this.#pages.set(url, page);
    return page;
  }

  async #fetch(url: string, caller: string, signal: AbortSignal): Promise<Fetched> {
    try {
      return await this.#egress.fetchGuarded(url, { bytesMax: PAGE_BYTES_MAX, accept: ACCEPTED, caller, signal });
    } catch (error) {
      if (error instanceof EgressError) throw new PageFailed(`${error.message}.`, { cause: error });
      throw error;
    }
  }

  async #read(url: string, { bytes, mimeType, charset, filename }: Fetched, signal: AbortSignal): Promise<Page> {
    const real = mimeType === PDF ? PDF : documentType(bytes);
    if (real !== null)
      return { ...pageOf(url, filename ?? url, await this.#documentText(real, bytes, signal)), links: [] };
    if (HTML_TYPES.has(mimeType ?? "text/html")) return await this.#readHtml(url, { bytes, charset }, signal);
    const text = await decodeAs(bytes, charset ?? "utf-8");
    if (text === null) throw new PageFailed("The page is no text that can be read.");
    return { ...pageOf(url, filename ?? url, text.slice(0, PAGE_CHARACTERS_MAX)), links: [] };
  }

  async #readHtml(url: string, page: Pick<Fetched, "bytes" | "charset">, signal: AbortSignal): Promise<Page> {
    const read = await this.#html.read(page.bytes, page.charset, signal);
    if (read.type !== "text") throw new PageFailed("The page is too large or too tangled to be read.");
    const links = new Map<string, string>();
    for (const { text, href } of read.links) {
      const target = URL.parse(href, url);
      if (target === null || !/^https?:$/.test(target.protocol)) continue;
      target.hash = "";
      if (!links.has(target.href)) links.set(target.href, text);
    }
    const linkList = [...links].map(([target, text]) => ({ url: target, text }));
    const text = needsScripts(page.bytes, read.text) ? `${read.text}\n${NEEDS_SCRIPTS}`.trimStart() : read.text;
    return { ...pageOf(url, read.title === "" ? url : read.title, text), links: linkList };
  }

  async #documentText(real: string, bytes: Buffer, signal: AbortSignal): Promise<string> {
    const read = await documentText(this.#documents, { real, bytes }, signal);
    if (read.type === "text") return read.text;
    throw new PageFailed(`The document at this address ${read.why}.`);
  }
}

/** The type of a document that is no text; null for everything else. A page may speak of PDFs at its beginning. */
function documentType(bytes: Buffer): string | null {
  if (bytes.subarray(0, PDF_MARK.length).toString("latin1") === PDF_MARK) return PDF;
  const real = sniffType(bytes);
  return real === ZIP || real === OLE ? real : null;
}

/** Whether a page has almost no text, and scripts that would render it. */
function needsScripts(bytes: Uint8Array, text: string): boolean {
  return text.trim().length < TEXT_CHARACTERS_MIN && SCRIPT.test(Buffer.from(bytes).toString("latin1"));
}

function pageOf(url: string, title: string, text: string): Omit<Page, "links"> {
  return { url, title, lines: text.split(/\r?\n/).flatMap(wrapLine) };
}

/** Splits long lines, after a blank if there is one, so that a part of a page can be shown. */
function wrapLine(line: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  while (line.length - start > LINE_CHARACTERS_MAX) {
    const blank = line.lastIndexOf(" ", start + LINE_CHARACTERS_MAX);
    const end = blank > start ? blank + 1 : start + LINE_CHARACTERS_MAX;
    pieces.push(line.slice(start, end).trimEnd());
    start = end;
  }
  pieces.push(line.slice(start));
  return pieces;
}
