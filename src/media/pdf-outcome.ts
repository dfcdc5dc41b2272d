/** What became of reading a PDF. `unmapped`: its letters cannot be told without character maps that are not at hand. */
export type PdfOutcome =
  | { readonly type: "text"; readonly text: string; readonly pages: number }
  | { readonly type: "too_many_pages"; readonly pages: number }
  | { readonly type: "too_many_characters" | "too_costly" | "encrypted" | "unmapped" | "broken" };

/** One document for a thread to read, and where it may stop. */
export interface PdfTask {
  readonly bytes: Uint8Array;
  readonly pagesMax: number;
  readonly charactersMax: number;
}
