import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";

const URL_IN_TEXT = /https?:\/\/[^\s<>"'`)\]}]{1,2000}/g;
const KNOWN_MAX = 5000;

/**
 * The addresses that the user wrote or that a search or page of this context showed. Beside tools that read private
 * data, only these are opened: an address invented by the model could carry such data away.
 */
export class KnownUrls {
  readonly #urls = new Set<string>();

  constructor(context: readonly StoredItem[]) {
    for (const item of context) this.#addItem(item);
  }

  add(url: string): void {
    if (this.#urls.size < KNOWN_MAX) this.#urls.add(withoutFragment(url));
  }

  has(url: string): boolean {
    return this.#urls.has(withoutFragment(url));
  }

  #addItem(item: StoredItem): void {
    if (item.type === "message" && item.role === "user") {
      for (const part of item.content) if ("text" in part) this.#addText(part.text);
      return;
    }
    if (item.type !== "web_search_call" || item.action == null) return;
    if (item.action.type !== "search") {
      if (item.action.url != null) this.add(item.action.url);
      return;
    }
    for (const source of item.action.sources ?? []) if ("url" in source && source.url != null) this.add(source.url);
  }

  #addText(text: string): void {
    for (const [url] of text.matchAll(URL_IN_TEXT)) this.add(url.replace(/[.,;:!?]+$/, ""));
  }
}

function withoutFragment(url: string): string {
  const parsedUrl = URL.parse(url);
  if (parsedUrl === null) return url;
  parsedUrl.hash = "";
  return parsedUrl.href;
}
