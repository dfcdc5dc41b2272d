/** The database cannot be used. The message is printed without a stack. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}
