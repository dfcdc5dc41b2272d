/**
 * A stream that broke, and that its client can resume. The connection is cut without a last message, because clients
 * take an orderly end for the end of what they read, and an error for its failure. `cause` is why it broke.
 */
export class UnfinishedStream extends Error {
  override readonly name = "UnfinishedStream";
  /** What the log says besides the error. */
  readonly logFields: object;

  constructor(message: string, { cause, logFields = {} }: { readonly cause: unknown; readonly logFields?: object }) {
    super(message, { cause });
    this.logFields = logFields;
  }
}
