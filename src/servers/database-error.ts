/** The database cannot be used as it is: said to people, in place of a stack. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}
