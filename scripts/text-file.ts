/** A file of the repository. */
export interface TextFile {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}
