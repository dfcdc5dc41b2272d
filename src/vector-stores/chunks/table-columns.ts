import type { TextLayout } from "@antiphon/media/document-text.ts";

/** The maximum characters of the column names that a chunk carries. */
const COLUMNS_CHARACTERS_MAX = 1_000;
/** Between the lines of a table: the names of its columns are in its first line with cells. */
const DELIMITER = /[,;\t|]/;

/** A place in a table: before or in its first line, or below the names of its columns. */
export type TablePlace = { readonly isTable: false } | { readonly isTable: true; readonly columns: string | null };

const OUTSIDE: TablePlace = { isTable: false };

/** The names of the columns of the table that a position is in. The position moves from line to line. */
export class TableColumns {
  readonly #layout: TextLayout;
  #columns: string | null = null;

  constructor(layout: TextLayout) {
    this.#layout = layout;
  }

  /** Moves to this line. A heading ends the rows of a sheet, and an empty line those of a table of Markdown. */
  enterLine(
    line: string,
    { isHeading, isAfterBlank }: { readonly isHeading: boolean; readonly isAfterBlank: boolean },
  ): TablePlace {
    switch (this.#layout) {
      case "marked":
        return this.#enterRow(line, line.startsWith("|"), isAfterBlank || !line.startsWith("|"));
      case "sheets":
        return this.#enterRow(line, line.includes("\t"), isHeading);
      case "table":
        return this.#enterRow(line, DELIMITER.test(line), false);
      case "plain":
      default:
        return OUTSIDE;
    }
  }

  #enterRow(line: string, hasCells: boolean, endsTable: boolean): TablePlace {
    if (endsTable) this.#columns = null;
    const columns = this.#columns;
    if (columns === null && !hasCells) return OUTSIDE;
    this.#columns ??= line.trimEnd().slice(0, COLUMNS_CHARACTERS_MAX);
    return { isTable: true, columns };
  }
}
