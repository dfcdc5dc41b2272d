import { parentPort, workerData } from "node:worker_threads";
import { Readability } from "@mozilla/readability";
import { compile, type DomNode, type FormatCallback } from "html-to-text";
import { parseHTML } from "linkedom";
import { isRecord } from "../../base/json/records.ts";
import type { HtmlLink, HtmlOutcome, HtmlTask } from "./html-outcome.ts";

/** Larger pages take the search for an article many seconds. */
const ARTICLE_CHARACTERS_MAX = 1024 * 1024;
const ARTICLE_ELEMENTS_MAX = 20_000;
/** Shorter articles are most often a wrong guess. */
const ARTICLE_CHARACTERS_MIN = 200;
/** Deeper elements are left out; the converter works by recursion. */
const DEPTH_MAX = 100;
const LINKS_MAX = 60;
const LINK_CHARACTERS_MAX = 100;
const TITLE_CHARACTERS_MAX = 300;
/** Where a page that declares its charset does so. */
const DECLARATION_BYTES = 2048;

function read({ bytes, charset, mode, charactersMax }: HtmlTask): HtmlOutcome {
  const html = decode(bytes, charset);
  const article = mode === "article" ? findArticle(html) : null;
  if (article !== null) {
    const found = toText(article.content, charactersMax);
    const title = shortened(article.title ?? titleOf(html), TITLE_CHARACTERS_MAX);
    if (found.text.length >= ARTICLE_CHARACTERS_MIN) return { type: "text", title, ...found };
  }
  return { type: "text", title: titleOf(html), ...toText(html, charactersMax, mode === "marked") };
}

function decode(bytes: Uint8Array, charset: string | null): string {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_BYTES));
  const declared = charset ?? /<meta[^>]{0,200}charset=["']?([\w.:-]{1,40})/i.exec(start)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(declared).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // An unknown charset.
  }
}

function findArticle(html: string): { readonly title?: string | null | undefined; readonly content: string } | null {
  if (html.length > ARTICLE_CHARACTERS_MAX) return null;
  if ((html.match(/<[a-z]/gi) ?? []).length > ARTICLE_ELEMENTS_MAX) return null;
  const { document } = parseHTML(html);
  const article = new Readability(document).parse();
  const { title, content } = article ?? {};
  return content == null ? null : { title, content };
}

function toText(
  html: string,
  charactersMax: number,
  isMarked = false,
): { readonly text: string; readonly links: readonly HtmlLink[] } {
  const links: HtmlLink[] = [];
  const anchor: FormatCallback = (element, walk, builder) => {
    const href: unknown = element.attribs?.["href"];
    if (typeof href === "string" && links.length < LINKS_MAX) links.push({ text: textUnder(element), href });
    walk(element.children, builder);
  };
  const skipped = ["img", "nav", "script", "style", "noscript", "svg", "form", "footer"];
  const convert = compile({
    wordwrap: false,
    limits: { maxDepth: DEPTH_MAX, maxInputLength: html.length },
    formatters: { anchorText: anchor, markedHeading },
    selectors: [
      { selector: "a", format: "anchorText" },
      { selector: "table", format: "dataTable" },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        ...(isMarked ? { format: "markedHeading" } : { options: { uppercase: false } }),
      })),
      ...skipped.map((selector) => ({ selector, format: "skip" })),
    ],
  });
  const text = convert(html).replaceAll(/\n{3,}/g, "\n\n");
  return { text: text.trim().slice(0, charactersMax), links };
}

const markedHeading: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addLiteral(`${"#".repeat(Number(element.name?.slice(1)))} `);
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** The words of a link, as far as they lie in its first levels. */
function textUnder(element: DomNode, depth = 3): string {
  const text = (element.children ?? [])
    .map((child) => child.data ?? (depth > 0 ? textUnder(child, depth - 1) : ""))
    .join(" ");
  return shortened(text.replaceAll(/\s+/g, " ").trim(), LINK_CHARACTERS_MAX);
}

function titleOf(html: string): string {
  const raw = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html.slice(0, ARTICLE_CHARACTERS_MAX))?.[1] ?? "";
  return shortened(compile({ wordwrap: false })(raw).replaceAll(/\s+/g, " ").trim(), TITLE_CHARACTERS_MAX);
}

function shortened(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
}

function isTask(value: unknown): value is HtmlTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array;
}

const task: unknown = workerData;
if (parentPort !== null && isTask(task)) parentPort.postMessage(read(task));
