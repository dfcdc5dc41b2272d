/**
 * The outcome of reading an Office document. `isWorkbook`: the text is rows with tabs, under the names of their sheets.
 * `other`: the archive is no document that can be read.
 */
export type OfficeOutcome =
  | { readonly type: "text"; readonly text: string; readonly isWorkbook: boolean }
  | { readonly type: "too_many_characters" | "too_costly" | "broken" | "other" };

/** A document for a thread to read, and its limits. */
export interface OfficeTask {
  readonly bytes: Uint8Array;
  readonly charactersMax: number;
}

/** Thrown to end reading early with this outcome. */
export class ReadingEnded extends Error {
  override readonly name = "ReadingEnded";
  readonly outcome: Exclude<OfficeOutcome, { type: "text" }>;

  constructor(type: ReadingEnded["outcome"]["type"]) {
    super(type);
    this.outcome = { type };
  }
}
