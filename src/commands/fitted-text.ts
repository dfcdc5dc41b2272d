interface Output {
  readonly isTTY?: boolean;
  /** Width of the terminal; undefined if it is unknown. */
  readonly columns?: number;
}

/** Longer lines are hard to read, however wide the terminal is. */
const COLUMNS_MAX = 110;
const COLUMNS_MIN = 40;

/** Breaks long lines between words for a terminal, under their own indent. Scripts get the text as it is. */
export function fitted(text: string, { isTTY, columns }: Output): string {
  if (isTTY !== true || columns === undefined || columns < COLUMNS_MIN) return text;
  const width = Math.min(columns, COLUMNS_MAX);
  return text
    .split("\n")
    .flatMap((line) => brokenLines(line, width))
    .join("\n");
}

function brokenLines(line: string, width: number): readonly string[] {
  const indent = indentOf(line);
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(" ", width);
    if (at <= indent) break; // A word that is longer than a line stays whole.
    lines.push(rest.slice(0, at).trimEnd());
    rest = `${" ".repeat(indent)}${rest.slice(at + 1)}`;
  }
  return [...lines, rest];
}

/** Where the text of a line begins; in a table, that of its last column. */
function indentOf(line: string): number {
  const columns = [...line.matchAll(/ {2,}(?=\S)/g)];
  const last = columns.at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}
