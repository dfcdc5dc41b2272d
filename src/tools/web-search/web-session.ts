import type { Citable, ToolScope } from "@antiphon/domain/hosted-tool.ts";
import { KnownUrls } from "./known-urls.ts";
import type { PageReader } from "./pages/page-reader.ts";
import type { SearchCache } from "./search-cache.ts";
import type { WebSettings } from "./web-settings.ts";

/** The search server and the page reader. */
export interface WebServices {
  /** Null if pages can only be opened. */
  readonly searches: SearchCache | null;
  readonly pages: PageReader;
  /**
   * The pages that may be opened: `known` are those of `KnownUrls`; `auto` means `known` beside tools with private
   * data.
   */
  readonly open: "auto" | "any" | "known" | "off";
}

/** The searches and pages of one response. */
export class WebSession {
  readonly services: WebServices;
  readonly settings: WebSettings;
  readonly scope: ToolScope;
  readonly knownUrls: KnownUrls;
  readonly #numbers = new Map<string, number>();

  constructor(services: WebServices, settings: WebSettings, scope: ToolScope) {
    this.services = services;
    this.settings = settings;
    this.scope = scope;
    this.knownUrls = new KnownUrls(scope.context);
  }

  /** The citation of a page under its number. A page keeps its number. */
  cite(url: string, title: string): Extract<Citable, { type: "web" }> {
    const number = this.#numbers.get(url) ?? (this.scope.citedBefore ?? 0) + this.#numbers.size + 1;
    this.#numbers.set(url, number);
    this.knownUrls.add(url);
    return { type: "web", number, url, title };
  }

  /** Whether only known pages may be opened. */
  get isNarrow(): boolean {
    const { open } = this.services;
    return open === "known" || (open === "auto" && this.scope.readsPrivately);
  }

  /** Whether a page is within the domains that the request allows. */
  allows(url: string): boolean {
    const host = URL.parse(url)?.hostname ?? "";
    const { domains, blockedDomains } = this.settings;
    const isIn = (domain: string): boolean => host === domain || host.endsWith(`.${domain}`);
    return (domains.length === 0 || domains.some(isIn)) && !blockedDomains.some(isIn);
  }
}
