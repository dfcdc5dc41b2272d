/**
 * A stream that broke and that its client can resume. The connection is cut without a last message, because clients
 * would mistake a normal end for the end of the data, and an error for a failure of the response. `cause`: why it
 * broke.
 */
export class UnfinishedStream extends Error {
  override readonly name = "UnfinishedStream";
  /** Log fields besides the error. */
  readonly logFields: object;

  constructor(message: string, { cause, logFields = {} }: { readonly cause: unknown; readonly logFields?: object }) {
    super(message, { cause });
    this.logFields = logFields;
  }
}
