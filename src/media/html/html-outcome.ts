/**
 * What the thread is asked: to find the article of a page and else take all of its text, or the latter at once.
 * `marked` is the latter with `#` before headings.
 */
export interface HtmlTask {
  readonly bytes: Uint8Array;
  /** From the reply's headers; null to look into the page. */
  readonly charset: string | null;
  readonly mode: HtmlMode;
  readonly charactersMax: number;
}

export type HtmlMode = "article" | "whole" | "marked";

export interface HtmlLink {
  readonly text: string;
  /** As the page has it, often relative. */
  readonly href: string;
}

export interface HtmlOutcome {
  readonly type: "text";
  readonly title: string;
  readonly text: string;
  readonly links: readonly HtmlLink[];
}
