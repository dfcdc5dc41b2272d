import { compile, type DomNode, type FormatCallback } from "html-to-text";
import type { HtmlLink } from "./html-outcome.ts";

/** Deeper elements are left out; the converter is recursive. */
const DEPTH_MAX = 100;
const LINKS_MAX = 60;
const LINK_CHARACTERS_MAX = 100;
const CELL_CHARACTERS_MAX = 1_000;

/**
 * The text of a page and its links. `isMarked`: with `#` before headings and bars between the cells of tables, as in
 * Markdown.
 */
export function toText(
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
  const selectors = ["img", "nav", "script", "style", "noscript", "svg", "form", "footer"];
  if (isMarked) selectors.push("title"); // It stands above the text instead.
  const convert = compile({
    wordwrap: false,
    limits: { maxDepth: DEPTH_MAX, maxInputLength: html.length },
    formatters: { anchorText: anchor, markedHeading, markedTable },
    selectors: [
      { selector: "a", format: "anchorText" },
      { selector: "table", format: isMarked ? "markedTable" : "dataTable" },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
        selector,
        ...(isMarked ? { format: "markedHeading" } : { options: { uppercase: false } }),
      })),
      ...selectors.map((selector) => ({ selector, format: "skip" })),
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

/** Each row in a line with bars between its cells. A table that only arranges a page becomes its cells. */
const markedTable: FormatCallback = (element, walk, builder) => {
  builder.openTable();
  const walkRows = ({ name, children }: DomNode): void => {
    if (name === "tr") {
      builder.openTableRow();
      for (const cell of children) {
        if (cell.name !== "td" && cell.name !== "th") continue;
        builder.openTableCell({});
        walk(cell.children, builder);
        builder.closeTableCell({});
      }
      builder.closeTableRow();
    } else for (const child of children) if (child.name !== undefined && child.name !== "table") walkRows(child);
  };
  for (const child of element.children ?? []) walkRows(child);
  builder.closeTable({ tableToString: markedRows, leadingLineBreaks: 2, trailingLineBreaks: 2 });
};

type TableRows = readonly (readonly { readonly text: string }[])[];

function markedRows(rows: TableRows): string {
  const cellRows = rows.map((cells) => cells.map(({ text }) => text.trim())).filter((cells) => cells.some(Boolean));
  const isLayout = cellRows.every((cells) => cells.length < 2) || cellRows.flat().some(isLongText);
  if (isLayout) return cellRows.flat().filter(Boolean).join("\n\n");
  return cellRows.map((cells) => `| ${cells.map((cell) => cell.replaceAll(/\s+/g, " ")).join(" | ")} |`).join("\n");
}

/** Whether this is more than the cell of a table usually holds. */
function isLongText(text: string): boolean {
  return text.length > CELL_CHARACTERS_MAX && text.includes("\n");
}

/** The words of a link in its first levels. */
function textUnder(element: DomNode, depth = 3): string {
  const text = (element.children ?? [])
    .map((child) => child.data ?? (depth > 0 ? textUnder(child, depth - 1) : ""))
    .join(" ");
  return shortenText(text.replaceAll(/\s+/g, " ").trim(), LINK_CHARACTERS_MAX);
}

export function shortenText(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
}
