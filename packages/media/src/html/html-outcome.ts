/**
 * The task of the thread: extract the article, otherwise all text, or extract all text at once. `marked` means all text
 * with `#` before headings.
 */
export interface HtmlTask {
  readonly bytes: Uint8Array;
  /** From the reply's headers; null to detect it from the page. */
  readonly charset: string | null;
  readonly mode: HtmlMode;
  readonly charactersMax: number;
}

export type HtmlMode = "article" | "whole" | "marked";

export interface HtmlLink {
  readonly text: string;
  /** As in the page, often relative. */
  readonly href: string;
}

export interface HtmlOutcome {
  readonly type: "text";
  readonly title: string;
  readonly text: string;
  readonly links: readonly HtmlLink[];
}
