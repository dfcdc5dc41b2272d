import { parentPort, workerData } from "node:worker_threads";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Readability } from "@mozilla/readability";
import { compile } from "html-to-text";
import { parseHTML } from "linkedom";
import type { HtmlOutcome, HtmlTask } from "./html-outcome.ts";
import { shortenText, toText } from "./to-text.ts";

/** In larger pages, the search for an article takes many seconds. */
const ARTICLE_CHARACTERS_MAX = 1024 * 1024;
const ARTICLE_ELEMENTS_MAX = 20_000;
/** Shorter articles are most often a wrong guess. */
const ARTICLE_CHARACTERS_MIN = 200;
const TITLE_CHARACTERS_MAX = 300;
/** A page's own declaration of its charset is within these bytes. */
const DECLARATION_BYTES = 2048;

function read({ bytes, charset, mode, charactersMax }: HtmlTask): HtmlOutcome {
  const html = decode(bytes, charset);
  const article = mode === "article" ? findArticle(html) : null;
  if (article !== null) {
    const content = toText(article.content, charactersMax);
    const title = shortenText(article.title ?? titleOf(html), TITLE_CHARACTERS_MAX);
    if (content.text.length >= ARTICLE_CHARACTERS_MIN) return { type: "text", title, ...content };
  }
  return { type: "text", title: titleOf(html), ...toText(html, charactersMax, mode === "marked") };
}

function decode(bytes: Uint8Array, charset: string | null): string {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_BYTES));
  const encoding = charset ?? /<meta[^>]{0,200}charset=["']?([\w.:-]{1,40})/i.exec(start)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(encoding).decode(bytes);
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

function titleOf(html: string): string {
  const raw = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html.slice(0, ARTICLE_CHARACTERS_MAX))?.[1] ?? "";
  return shortenText(compile({ wordwrap: false })(raw).replaceAll(/\s+/g, " ").trim(), TITLE_CHARACTERS_MAX);
}

function isHtmlTask(value: unknown): value is HtmlTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array;
}

const task: unknown = workerData;
if (parentPort !== null && isHtmlTask(task)) parentPort.postMessage(read(task));
