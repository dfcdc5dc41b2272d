/** A table as Markdown writes it. Each row has as many cells as the head. */
export interface ProseTable {
  readonly head: readonly string[];
  readonly alignments: readonly (Alignment | null)[];
  readonly rows: readonly (readonly string[])[];
}

export type Alignment = "left" | "center" | "right";

/** A table, or lines between tables. */
export type ProsePart = { readonly text: string } | { readonly table: ProseTable };

/** The line below the head, such as `|:--|--:|`. */
const DELIMITER = /^\s*\|?(\s*:?-+:?\s*\|)+(\s*:?-+:?\s*)?$/;

/** Cuts a paragraph at the tables in it. */
export function cutTables(text: string): ProsePart[] {
  const parts: ProsePart[] = [];
  const lines = text.split("\n");
  let from = 0;
  for (let at = 0; at + 1 < lines.length; at++) {
    const end = endOfTable(lines, at);
    if (end === null) continue;
    if (at > from) parts.push({ text: lines.slice(from, at).join("\n") });
    parts.push({ table: readTable(lines.slice(at, end)) });
    from = end;
    at = end - 1;
  }
  if (from < lines.length) parts.push({ text: lines.slice(from).join("\n") });
  return parts;
}

/** The first line after a table that begins here; null if none begins. */
function endOfTable(lines: readonly string[], at: number): number | null {
  const [head = "", delimiter = ""] = lines.slice(at, at + 2);
  if (!head.includes("|") || !DELIMITER.test(delimiter)) return null;
  if (cellsOf(head).length !== cellsOf(delimiter).length) return null;
  let end = at + 2;
  while (lines[end]?.includes("|") === true) end += 1;
  return end;
}

function readTable([head = "", delimiter = "", ...rows]: readonly string[]): ProseTable {
  const names = cellsOf(head);
  return {
    head: names,
    alignments: cellsOf(delimiter).map(alignmentOf),
    rows: rows.map((row) => {
      const cells = cellsOf(row);
      return names.map((_, index) => cells[index] ?? "");
    }),
  };
}

function alignmentOf(dashes: string): Alignment | null {
  if (!dashes.endsWith(":")) return dashes.startsWith(":") ? "left" : null;
  return dashes.startsWith(":") ? "center" : "right";
}

/** The cells of a line. A pipe behind a backslash belongs to its cell. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
