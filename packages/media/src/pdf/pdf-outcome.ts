/**
 * The outcome of reading a PDF. `isMarked`: it has headings with `#` before them. `title`: what the document says its
 * title is; null if it says nothing. `unmapped`: its text cannot be decoded without character maps that are not
 * available.
 */
export type PdfOutcome =
  | {
      readonly type: "text";
      readonly text: string;
      readonly isMarked: boolean;
      readonly title: string | null;
      readonly pages: number;
    }
  | { readonly type: "too_many_pages"; readonly pages: number }
  | { readonly type: "too_many_characters" | "too_costly" | "encrypted" | "unmapped" | "broken" };

/** A document for a thread to read, and its limits. */
export interface PdfTask {
  readonly bytes: Uint8Array;
  readonly pagesMax: number;
  readonly charactersMax: number;
}
