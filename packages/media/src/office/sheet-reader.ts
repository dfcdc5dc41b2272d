import { shownDate } from "./number-formats.ts";
import type { XmlListener } from "./read-xml.ts";
import type { TextSink } from "./text-sink.ts";

/** The workbook data that cells refer to. */
export interface SheetContext {
  readonly sharedStrings: readonly string[];
  readonly dateStyles: readonly boolean[];
  readonly since1904: boolean;
}

/** The most columns that a sheet can have. */
const COLUMNS_MAX = 16_384;

/** Writes the rows of a sheet with tabs between cells. Cells keep their column; empty rows are left out. */
export class SheetReader implements XmlListener {
  readonly #sink: TextSink;
  readonly #context: SheetContext;
  #row: string[] = [];
  #column = 0;
  #type = "n";
  #style = 0;
  #value: string[] = [];
  #isValue = false;

  constructor(sink: TextSink, context: SheetContext) {
    this.#sink = sink;
    this.#context = context;
  }

  openElement(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === "row") this.#row = [];
    if (name === "c") {
      this.#column = columnOf(attributes["r"]) ?? this.#row.length;
      this.#type = attributes["t"] ?? "n";
      this.#style = Number(attributes["s"] ?? 0);
      this.#value = [];
    }
    this.#isValue = name === "v" || name === "t";
  }

  closeElement(name: string): void {
    this.#isValue = false;
    if (name === "c") this.#endCell();
    if (name === "row" && this.#row.length > 0) this.#sink.write(`${this.#row.join("\t")}\n`);
  }

  text(text: string): void {
    if (this.#isValue) this.#value.push(text);
  }

  #endCell(): void {
    const text = this.#cellText(this.#value.join("")).replaceAll(/[\t\r\n]+/g, " ");
    if (text === "" || this.#column >= COLUMNS_MAX) return;
    while (this.#row.length < this.#column) this.#row.push("");
    this.#row[this.#column] = text;
  }

  #cellText(value: string): string {
    switch (this.#type) {
      case "s":
        return this.#context.sharedStrings[Number(value)] ?? "";
      case "b":
        return value === "1" ? "TRUE" : "FALSE";
      case "n": {
        const isDate = this.#context.dateStyles[this.#style] === true && value !== "";
        return (isDate ? shownDate(Number(value), this.#context.since1904) : null) ?? value;
      }
      default:
        return value;
    }
  }
}

/** The column of a cell, counted from 0: 27 for `AB12`. */
function columnOf(place: string | undefined): number | null {
  const letters = /^[A-Z]{1,3}/.exec(place ?? "")?.[0];
  if (letters === undefined) return null;
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
