interface Output {
  readonly isTTY?: boolean;
  /** Width of the terminal; undefined if it is unknown. */
  readonly columns?: number;
}

/** Longer lines are hard to read, even on a wide terminal. */
const COLUMNS_MAX = 110;
const COLUMNS_MIN = 40;

/** Breaks long lines between words for a terminal and keeps their indent. Scripts get the text unchanged. */
export function fitText(text: string, { isTTY, columns }: Output): string {
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

/** The column at which a line's text begins; in a table, the start of the last column. */
function indentOf(line: string): number {
  const columns = [...line.matchAll(/ {2,}(?=\S)/g)];
  const last = columns.at(-1);
  return last === undefined ? 0 : last.index + last[0].length;
}
