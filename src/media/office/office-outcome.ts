/** What became of reading an Office document. `other`: it is an archive of something else. */
export type OfficeOutcome =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "too_many_characters" | "too_costly" | "broken" | "other" };

/** One document for a thread to read, and where it may stop. */
export interface OfficeTask {
  readonly bytes: Uint8Array;
  readonly charactersMax: number;
}

/** Reading ends here, with this outcome. */
export class ReadingEnded extends Error {
  override readonly name = "ReadingEnded";
  readonly outcome: Exclude<OfficeOutcome, { type: "text" }>;

  constructor(type: ReadingEnded["outcome"]["type"]) {
    super(type);
    this.outcome = { type };
  }
}
